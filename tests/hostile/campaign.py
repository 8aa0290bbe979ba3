"""The campaign: every shape asked for by a run of its own, many at once, on one real server."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from tests.hostile.calls import odd_calls
from tests.hostile.fields import fields
from tests.hostile.floods import floods
from tests.hostile.http import odd_http
from tests.hostile.provider import HostileProvider, prompt
from tests.hostile.shape import Shape
from tests.oracle.ending import REASONS
from tests.support.log import assert_settled
from tests.support.raw import RawAnswer, RawApi, answer_of
from tests.support.server import TenutoServer

AT_ONCE = 32
END_SECONDS = 45.0
LOOK_SECONDS = 0.05
LIMITS = {
    "TENUTO_LIMITS_RUN_CHARACTERS": "100000",
    "TENUTO_LIMITS_CALLS": "16",
    "TENUTO_LIMITS_STALL_SECONDS": "2",
    "TENUTO_LIMITS_RUN_SECONDS": "8",
    "TENUTO_PERMISSIONS": "deny",
}
"""Small, so that what has no end is ended soon."""
ENDINGS = {
    "completed": REASONS["completed"],
    "failed": REASONS["failed"] - {"budget", "storage", "internal"},
}
"""What the contract has for a run that nobody stopped, no limit of cost and no disk failed."""


OWN_WIRES = """
[[providers]]
name = "responses"
kind = "openai-responses"
base_url = "{url}/v1"

[[providers]]
name = "ollama"
kind = "ollama"
base_url = "{url}"
"""


def all_shapes() -> list[Shape]:
    return [*fields(), *odd_http(), *odd_calls(), *floods()]


class CampaignApi(RawApi):
    """Calls over a few kept connections; an error of the server is a failure at once."""

    def __init__(self, url: str, token: str, http: aiohttp.ClientSession) -> None:
        super().__init__(url, token)
        self._http = http

    async def call(
        self, method: str, path: str, body: Any = None, *, headers: dict[str, str] | None = None
    ) -> RawAnswer:
        sent = {"Authorization": f"Bearer {self.token}", **(headers or {})}
        request = self._http.request(method, self.url + path, json=body, headers=sent)
        async with request as response:
            answer = await answer_of(response)
        assert answer.status < 500, (method, path, answer)
        return answer


@asynccontextmanager
async def hostile_server(
    folder: Path, shapes: Sequence[Shape], *, env: dict[str, str] | None = None
) -> AsyncIterator[tuple[TenutoServer, CampaignApi]]:
    """A server whose providers, one on each wire, are hostile."""
    async with HostileProvider(shapes) as provider:
        keys = {
            "ANTHROPIC_API_KEY": "no-key-either",
            "ANTHROPIC_BASE_URL": provider.url,
            **LIMITS,
            **(env or {}),
        }
        data = folder / "data"
        data.mkdir(mode=0o700)
        (data / "tenuto.toml").write_text(OWN_WIRES.format(url=provider.url))
        connector = aiohttp.TCPConnector(limit=2 * AT_ONCE)
        async with (
            TenutoServer(folder, model_url=f"{provider.url}/v1", env=keys) as server,
            aiohttp.ClientSession(connector=connector) as http,
        ):
            yield server, CampaignApi(server.url, server.token, http)


async def meet_all(api: CampaignApi, shapes: Sequence[Shape]) -> dict[str, str]:
    """What was wrong with each shape that was not met as it should be; empty if all is well."""
    turns = asyncio.Semaphore(AT_ONCE)
    wrong: dict[str, str] = {}

    async def one(shape: Shape) -> None:
        async with turns:
            try:
                await meet(api, shape)
            except (AssertionError, TimeoutError, aiohttp.ClientError) as error:
                wrong[shape.name] = f"{type(error).__name__}: {error}"[:500]

    await asyncio.gather(*map(one, shapes))
    return wrong


async def meet(api: CampaignApi, shape: Shape) -> None:
    """One run is left to its end, another is cancelled; then all that is stored is looked at."""
    session = (await api.post("/api/sessions", {"model": f"{shape.wire}/m"})).body["id"]
    run = await ended(api, await _asked(api, session, shape))
    assert run["reason"] in ENDINGS.get(run["status"], ()), run
    assert all(0 <= run["usage"][f"{kind}_tokens"] <= 2**53 for kind in ("input", "output")), run
    await _asked(api, session, shape)
    cancelled = (await api.post(f"/api/sessions/{session}/cancel", {})).body
    assert cancelled["settled"], cancelled
    await assert_settled(api, session)


async def _asked(api: CampaignApi, session: str, shape: Shape) -> str:
    answer = await api.post(f"/api/sessions/{session}/runs", {"input": prompt(shape)})
    assert answer.status == 202, answer
    run_id: str = answer.body["id"]
    return run_id


async def ended(api: CampaignApi, run_id: str) -> dict[str, Any]:
    async with asyncio.timeout(END_SECONDS):
        while True:
            run: dict[str, Any] = await api.get(f"/api/runs/{run_id}")
            if run["status"] not in ("queued", "running"):
                return run
            await asyncio.sleep(LOOK_SECONDS)
