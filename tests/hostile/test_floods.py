"""An answer without end is ended by the usual limits, in a modest amount of memory."""

import asyncio
from pathlib import Path

import pytest

from tests.hostile.campaign import CampaignApi, ended, hostile_server
from tests.hostile.floods import floods
from tests.hostile.provider import prompt
from tests.hostile.shape import Shape
from tests.support.log import assert_settled
from tests.support.watch import until

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

USUAL = {
    "TENUTO_LIMITS_RUN_CHARACTERS": "16000000",
    "TENUTO_LIMITS_CALLS": "128",
    "TENUTO_LIMITS_RUN_SECONDS": "60",
}
ENDLESS = {shape.name.partition(" endless ")[2]: shape for shape in floods()}
PEAK_MB = 400
"""An idle server takes 70."""


async def begin(api: CampaignApi, shape: Shape) -> tuple[str, str]:
    session = (await api.post("/api/sessions", {"model": f"{shape.wire}/m"})).body["id"]
    run = await api.post(f"/api/sessions/{session}/runs", {"input": prompt(shape)})
    return session, run.body["id"]


async def answering(api: CampaignApi, session: str) -> bool:
    return len((await api.get(f"/api/sessions/{session}/messages"))["messages"]) == 2


def peak_megabytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line) // 1024


@pytest.mark.guarantee("E1")
async def test_an_answer_without_end_ends_as_too_large_and_what_came_is_kept(
    tmp_path: Path,
) -> None:
    shapes = [ENDLESS[name] for name in ("text", "arguments", "arguments without a name", "a line")]
    async with hostile_server(tmp_path, shapes, env=USUAL) as (server, api):
        begun = [await begin(api, shape) for shape in shapes]
        runs = [await ended(api, run) for _, run in begun]
        assert [(run["status"], run["reason"]) for run in runs] == [("failed", "too_large")] * 4
        assert runs[0]["error"]["message"] == "The answer grew beyond 16000000 characters."
        (_, answer) = (await api.get(f"/api/sessions/{begun[0][0]}/messages"))["messages"]
        # Both parts of it: the call that came first, and what was said.
        assert len(answer["parts"][1]["text"]) > 15_000_000
        assert answer["finish_reason"] == "error"
        await assert_settled(api, begun[1][0])
        assert peak_megabytes(server.pid) < PEAK_MB


@pytest.mark.guarantee("E1")
async def test_a_flood_can_be_stopped_at_any_moment(tmp_path: Path) -> None:
    names = ("text", "single letters", "arguments", "nothings", "comments", "trailers")
    shapes = [ENDLESS[name] for name in names]
    async with hostile_server(tmp_path, shapes, env=USUAL) as (_, api):

        async def stopped(shape: Shape) -> dict[str, object]:
            session, run = await begin(api, shape)
            await until(lambda: answering(api, session))
            receipt = (await api.post(f"/api/sessions/{session}/cancel", {})).body
            await assert_settled(api, session)
            return {"settled": receipt["settled"], **await ended(api, run)}

        for end in await asyncio.gather(*map(stopped, shapes)):
            assert end["settled"] is True
            assert end["status"] in ("cancelled", "failed"), end
