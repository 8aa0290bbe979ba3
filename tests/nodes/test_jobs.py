"""Jobs of one node, as the other sees them: read, stopped, and known to be over when it dies."""

from uuid import uuid4

import pytest

from tests.nodes.stage import Json, Stage
from tests.support.log import assert_settled
from tests.support.talk import call_tool
from tests.support.watch import until
from tests.tools.desk import alive

pytestmark = [pytest.mark.anyio, pytest.mark.guarantee("E7")]


@pytest.fixture
def settings() -> dict[str, str]:
    return {"TENUTO_PERMISSIONS": "allow"}


async def left_behind(stage: Stage, mark: str) -> tuple[str, Json]:
    """A job that ada runs, its run completed."""
    session = await stage.ada.session()
    run, exchange = await stage.ada.held(session, "Start")
    command = f"echo up; (setsid bash -c 'exec -a {mark} sleep 9876') & exec -a {mark} sleep 9876"
    await call_tool(exchange, "start_job", command=command, name="server")
    await (await stage.ada.request()).say("It runs.")
    await stage.ada.ended(run["id"])

    async def is_up() -> bool:
        return len(alive(mark)) >= 2

    await until(is_up)
    (job,) = (await stage.bea.api.get(f"/api/sessions/{session}/jobs"))["jobs"]
    return session, job


async def test_a_job_is_read_and_stopped_from_the_other_node(stage: Stage) -> None:
    mark = uuid4().hex
    session, job = await left_behind(stage, mark)

    async def is_read() -> bool:
        return await stage.bea.api.text(f"/api/jobs/{job['id']}/output") == "up\n"

    await until(is_read)
    answer = await stage.bea.api.post(f"/api/jobs/{job['id']}/stop")
    assert (answer.status, answer.body["state"]) == (200, "stopped")
    assert alive(mark) == []
    await assert_settled(stage.ada.api, session)


async def test_deleting_its_session_on_the_other_node_ends_a_job(stage: Stage) -> None:
    mark = uuid4().hex
    session, _ = await left_behind(stage, mark)
    assert (await stage.bea.api.call("DELETE", f"/api/sessions/{session}")).status == 204
    assert alive(mark) == []


async def test_a_job_of_a_node_that_was_killed_is_interrupted_by_the_other(stage: Stage) -> None:
    mark = uuid4().hex
    session, job = await left_behind(stage, mark)
    await stage.cluster.node("ada").kill()

    async def is_over() -> bool:
        found = await stage.bea.api.get(f"/api/jobs/{job['id']}")
        return bool(found["state"] == "interrupted")

    await until(is_over)
    assert alive(mark) == []
    await assert_settled(stage.bea.api, session)


@pytest.mark.parametrize("how", ["tool", "cancel"])
async def test_a_run_on_one_node_stops_what_an_earlier_one_started_on_the_other(
    stage: Stage, how: str
) -> None:
    mark = uuid4().hex
    session, job = await left_behind(stage, mark)
    _, exchange = await stage.bea.held(session, "Stop it")
    if how == "cancel":
        answer = await stage.bea.api.post(f"/api/sessions/{session}/cancel", {"jobs": True})
        assert answer.body["settled"] is True
    else:
        await call_tool(exchange, "read_job", call_id="call_2", id=job["id"])
        exchange = await stage.bea.request()
        assert "is running.\nup" in str(exchange.messages[-1]["content"])
        await call_tool(exchange, "stop_job", call_id="call_3", id=job["id"])
        exchange = await stage.bea.request()
        assert "(server) was stopped." in str(exchange.messages[-1]["content"])
        await exchange.say("Stopped.")
    assert alive(mark) == []
