"""A node that stands still for longer than its lease has lost its runs, and cannot harm them."""

import json
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest

from tests.nodes.stage import Stage, texts_shown
from tests.support.log import assert_settled, read_log
from tests.support.watch import until

pytestmark = [pytest.mark.anyio, pytest.mark.guarantee("E10")]

SHORT = {"TENUTO_LIMITS_LEASE_SECONDS": "4", "TENUTO_PERMISSIONS": "allow"}


@pytest.mark.parametrize("settings", [SHORT])
async def test_it_writes_nothing_for_what_it_lost_and_goes_on_with_new_work(stage: Stage) -> None:
    talk = await stage.ada.session()
    told, exchange = await stage.ada.held(talk, "hello")
    await exchange.text("before")
    await texts_shown(stage.ada, talk, "before")
    work = await stage.ada.session()
    tool = await _at_work(stage, work)
    node = stage.cluster.node("ada")
    node.freeze()
    await exchange.text(", and while it slept")
    for run_id in (told["id"], tool["run_id"]):
        assert (await stage.bea.ended(run_id))["status"] == "interrupted"
    await _until_dead(tool["pid"])
    logs = [await read_log(stage.bea.api, session) for session in (talk, work)]
    node.thaw()
    await exchange.closed()
    # What it does now comes after all that it may have wanted to say of the lost runs.
    new = await stage.ada.session()
    run, exchange = await stage.ada.held(new, "are you there?")
    await exchange.say("Yes.")
    assert (await stage.ada.ended(run["id"]))["status"] == "completed"
    assert [await read_log(stage.bea.api, session) for session in (talk, work)] == logs
    for house in (stage.ada, stage.bea):
        assert await house.texts(talk) == ["hello", "before"]
        for session in (talk, work, new):
            await assert_settled(house.api, session)


async def _at_work(stage: Stage, session_id: str) -> dict[str, Any]:
    """A run of ada's whose shell command says its process id and then sleeps."""
    run, exchange = await stage.ada.held(session_id, "sleep")
    await exchange.tool_call(0, "call_1", "shell")
    await exchange.tool_input(0, json.dumps({"command": "echo pid $$; exec sleep 1000"}))
    await exchange.finish("tool_calls")
    said = ""
    async with stage.bea.api.sse(f"/api/runs/{run['id']}/events") as stream:
        while not said.startswith("pid "):
            frame = await stream.until("part.delta")
            said += frame.data["text"] if frame.data.get("field") == "output" else ""
    return {"run_id": run["id"], "pid": int(said.split()[1])}


async def _until_dead(pid: int) -> None:
    async def dead() -> bool:
        try:
            return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
        except psutil.NoSuchProcess:
            return True

    await until(dead)
