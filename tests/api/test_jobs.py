"""Jobs: commands in the background, to their last process (E7)."""

import json
from typing import Any
from uuid import uuid4

import anyio
import pytest

from tenuto.client import Client, SessionHandle
from tests.support.model_server import Exchange, ModelServer
from tests.support.raw import RawApi
from tests.support.server import TenutoServer
from tests.support.talk import call_tool
from tests.support.watch import until
from tests.tools.desk import alive

pytestmark = [pytest.mark.anyio, pytest.mark.guarantee("E7")]

Json = dict[str, Any]


@pytest.fixture
def server_env() -> dict[str, str]:
    return {"TENUTO_PERMISSIONS": "allow"}


@pytest.fixture
def mark() -> str:
    """In the command line of each process of a job, so that it can be found."""
    return uuid4().hex


def stubborn(mark: str) -> str:
    """Processes that only a real end ends: they are deaf, and one leaves its session."""
    deaf = f"exec -a {mark} sleep 9876"
    return (
        f"trap '' TERM; echo up; ({deaf}) & (setsid bash -c '{deaf}') & exec -a {mark} sleep 9876"
    )


def result(exchange: Exchange) -> str:
    """What the model was told last of a call."""
    return str([m for m in exchange.body["messages"] if m["role"] == "tool"][-1]["content"])


async def started(
    model: ModelServer, session: SessionHandle, mark: str
) -> tuple[Any, str, Exchange]:
    """A run whose job is up; the run, the job's id, and the request after it."""
    run = await session.prompt("Start it")
    await call_tool(await model.next_request(), "start_job", command=stubborn(mark), name="server")
    exchange = await model.next_request()
    told = result(exchange)
    assert told.startswith("Started the job job_")
    await until_alive(mark)
    return run, told.split()[3].rstrip("."), exchange


async def until_alive(mark: str) -> None:
    async def are_alive() -> bool:
        return len(alive(mark)) >= 3

    await until(are_alive)


async def job_of(raw: RawApi, job_id: str) -> Json:
    job: Json = await raw.get(f"/api/jobs/{job_id}")
    return job


async def test_a_job_goes_on_after_its_run_until_it_is_stopped(
    model: ModelServer, raw: RawApi, tenuto: Client, session: SessionHandle, mark: str
) -> None:
    run, job_id, exchange = await started(model, session, mark)
    await call_tool(exchange, "read_job", id=job_id, wait=10, pattern="u[p]")
    exchange = await model.next_request()
    assert result(exchange).splitlines() == [f"The job {job_id} (server) is running.", "up"]
    await exchange.say("It runs.")
    assert (await run.wait()).status == "completed"
    assert alive(mark)
    (job,) = await session.jobs()
    assert (job.id, job.state, job.name) == (job_id, "running", "server")
    answer = await raw.post(f"/api/jobs/{job_id}/stop")
    assert (answer.status, answer.body["state"]) == (200, "stopped")
    assert alive(mark) == []
    assert (await tenuto.stop_job(job.id)).state == "stopped"
    run = await session.prompt("And now?")
    exchange = await model.next_request()
    told = exchange.body["messages"][-1]["content"]
    assert f"<note>The job {job_id} (server) was stopped.</note>" in json.dumps(told)
    await exchange.say("It was stopped.")
    await run.wait()


async def test_a_cancel_of_the_run_ends_its_jobs_before_it_answers(
    model: ModelServer, raw: RawApi, session: SessionHandle, mark: str
) -> None:
    first, kept, exchange = await started(model, session, mark)
    await exchange.say("Left to you.")
    await first.wait()
    other = uuid4().hex
    run, job_id, _ = await started(model, session, other)
    answer = await raw.post(f"/api/sessions/{session.id}/cancel")
    assert answer.body["settled"] is True
    assert alive(other) == []
    assert ((await run.get()).status, (await job_of(raw, job_id))["state"]) == (
        "cancelled",
        "stopped",
    )
    assert len(alive(mark)) >= 3
    assert (await job_of(raw, kept))["state"] == "running"
    answer = await raw.post(f"/api/sessions/{session.id}/cancel", {"jobs": True})
    assert (answer.body["settled"], answer.body["cancelled"]) == (True, [])
    assert alive(mark) == []
    assert (await job_of(raw, kept))["state"] == "stopped"


async def test_a_cancel_ends_the_jobs_of_sub_agents_too(
    model: ModelServer, raw: RawApi, session: SessionHandle, mark: str
) -> None:
    await session.prompt("Delegate")
    await call_tool(await model.next_request(), "task", prompt="Start it", tools="all")
    await call_tool(await model.next_request(), "start_job", command=stubborn(mark), name="server")
    await model.next_request()
    await until_alive(mark)
    answer = await raw.post(f"/api/sessions/{session.id}/cancel")
    assert answer.body["settled"] is True
    assert alive(mark) == []


async def test_deleting_the_session_ends_its_jobs(
    model: ModelServer, raw: RawApi, session: SessionHandle, mark: str
) -> None:
    _, job_id, exchange = await started(model, session, mark)
    await exchange.say("It runs.")
    await session.delete()
    assert alive(mark) == []
    assert (await raw.call("GET", f"/api/jobs/{job_id}")).status == 404
    assert (await raw.call("GET", f"/api/jobs/{job_id}/output")).status == 404


@pytest.mark.one_node("the whole server is killed")
@pytest.mark.parametrize("how", ["kill", "terminate"])
async def test_no_process_outlives_the_server_and_the_job_is_interrupted(
    model: ModelServer,
    server: TenutoServer,
    raw: RawApi,
    session: SessionHandle,
    mark: str,
    how: str,
) -> None:
    run, job_id, exchange = await started(model, session, mark)
    await exchange.say("It runs.")
    await run.wait()
    await (server.kill() if how == "kill" else server.terminate())

    async def is_gone() -> bool:
        return not alive(mark)

    await until(is_gone)
    await server.start()
    job = await job_of(raw, job_id)
    assert (job["state"], job["exit_code"]) == ("interrupted", None)
    run = await session.prompt("How is it?")
    exchange = await model.next_request()
    assert f"{job_id} (server) was ended because the server stopped" in json.dumps(
        exchange.body["messages"][-1]
    )
    await exchange.say("It ended.")
    await run.wait()


async def test_the_next_step_is_told_in_one_line_that_a_job_has_ended(
    model: ModelServer, session: SessionHandle, server: TenutoServer, raw: RawApi
) -> None:
    run = await session.prompt("Build it")
    command = "echo building; until [ -e go ]; do sleep 0.05; done; echo built; exit 3"
    await call_tool(await model.next_request(), "start_job", command=command, name="build")
    exchange = await model.next_request()
    job_id = result(exchange).split()[3].rstrip(".")
    await call_tool(exchange, "shell", call_id="call_2", command="touch go")
    exchange = await model.next_request()

    async def has_ended() -> bool:
        return bool((await job_of(raw, job_id))["state"] == "ended")

    await until(has_ended)
    await call_tool(exchange, "todo", call_id="call_3", items=[])
    exchange = await model.next_request()
    note = f"<note>The job {job_id} (build) ended with exit code 3.</note>"
    told = [str(m["content"]) for m in exchange.body["messages"] if m["role"] == "tool"]
    assert [note in one for one in told].count(True) == 1
    await call_tool(exchange, "read_job", call_id="call_4", id=job_id)
    exchange = await model.next_request()
    assert result(exchange).splitlines()[1:] == ["building", "built"]
    again = [str(m["content"]) for m in exchange.body["messages"] if m["role"] == "tool"]
    assert again[: len(told)] == told, "what the model has read stays as it was"
    await exchange.say("Built.")
    await run.wait()
    run = await session.prompt("Thanks")
    exchange = await model.next_request()
    assert "<note>" not in json.dumps(exchange.body["messages"][-1])
    await exchange.say("You are welcome.")
    await run.wait()


async def test_reading_waits_for_a_line_for_the_end_or_for_its_time(
    model: ModelServer, session: SessionHandle
) -> None:
    run = await session.prompt("Wait")
    command = "echo one; until [ -e two ]; do sleep 0.05; done; echo two; sleep 1; exit 7"
    await call_tool(await model.next_request(), "start_job", command=command, name="n")
    exchange = await model.next_request()
    job_id = result(exchange).split()[3].rstrip(".")
    said = []
    waits: list[Json] = [{"wait": 0.2, "pattern": "never"}, {"wait": 30, "pattern": "tw"}]
    for n, given in enumerate([*waits, {"wait": 30}]):
        if n == 1:
            await call_tool(exchange, "shell", call_id="touch", command="touch two")
            exchange = await model.next_request()
        await call_tool(exchange, "read_job", call_id=f"call_{n}", id=job_id, **given)
        exchange = await model.next_request(timeout=20)
        said.append(result(exchange).splitlines())
    running, ended = f"The job {job_id} (n) is running.", f"The job {job_id} (n) ended with exit"
    assert said[0] == [running, "one"]
    assert said[1] == [running, "two"]
    assert said[2][0] == f"{ended} code 7."
    await call_tool(exchange, "read_job", call_id="wrong", id="job_wrong")
    exchange = await model.next_request()
    assert result(exchange) == f"There is no job job_wrong here. The jobs are: {job_id} (n, ended)."
    await exchange.say("Done.")
    await run.wait()


async def test_what_it_prints_is_told_and_kept(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Print")
    command = "seq 5000; until [ -e end ]; do sleep 0.05; done; echo last"
    await call_tool(await model.next_request(), "start_job", command=command, name="n")
    exchange = await model.next_request()
    job_id = result(exchange).split()[3].rstrip(".")
    async with raw.sse(f"/api/sessions/{session.id}/events") as stream:
        updated = (await stream.until("job.updated")).data["job"]
    assert updated["printed"]["tail"].endswith("4999\n5000\n")
    async with raw.sse(f"/api/sessions/{session.id}/events", after="now") as stream:
        snapshot = (await stream.next()).data
    assert [job["id"] for job in snapshot["jobs"]] == [job_id]
    await call_tool(exchange, "shell", call_id="end", command="touch end")
    exchange = await model.next_request()
    await call_tool(exchange, "read_job", call_id="read", id=job_id, wait=20)
    exchange = await model.next_request(timeout=25)
    await call_tool(
        exchange, "search_files", call_id="find", path=f"output:{job_id}", pattern="^las"
    )
    exchange = await model.next_request()
    assert result(exchange) == f"output:{job_id}:5001: last"
    await exchange.say("Done.")
    await run.wait()
    answer = await raw.text(f"/api/jobs/{job_id}/output")
    assert answer == "".join(f"{n}\n" for n in range(1, 5001)) + "last\n"
    async with raw.sse(f"/api/sessions/{session.id}/events", after="now") as stream:
        assert (await stream.next()).data["jobs"] == []
    job = await job_of(raw, job_id)
    assert (job["state"], job["exit_code"], job["printed"]["characters"]) == (
        "ended",
        0,
        len(answer),
    )


async def test_the_rules_of_shell_hold_for_jobs(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    rules = [{"tool": "shell", "pattern": "rm *", "decision": "deny"}]
    await raw.call("PATCH", "/api/workspaces/default", {"rules": rules})
    run = await session.prompt("Remove")
    await call_tool(await model.next_request(), "start_job", command="rm -r .")
    exchange = await model.next_request()
    assert result(exchange) == "A rule does not allow this."
    await exchange.say("As you wish.")
    await run.wait()
    with anyio.fail_after(5):
        assert (await raw.get(f"/api/sessions/{session.id}/jobs")) == {"jobs": []}
