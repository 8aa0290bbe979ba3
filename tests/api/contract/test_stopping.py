"""SIGTERM: nothing new comes in, what runs gets its time, what waits runs after the next start."""

import signal
from pathlib import Path

import pytest

from tests.api.contract.house import House, open_house, refused
from tests.support.log import assert_settled
from tests.support.watch import until

pytestmark = pytest.mark.anyio


async def draining(house: House) -> None:
    """Ask the server to stop and wait until it says that it will."""
    house.server.signal_stop()

    async def says_so() -> bool:
        return (await house.api.call("GET", "/readyz")).status == 503

    await until(says_so)


async def test_while_it_drains_nothing_new_is_accepted_and_what_runs_may_end(
    tmp_path: Path,
) -> None:
    async with open_house(tmp_path, {"TENUTO_DRAIN": "30"}) as house:
        session_id, other = await house.session(), await house.session()
        old = await house.answered(other, "before", "Yes.")
        run, exchange = await house.held(session_id, "hi")
        await draining(house)
        refused(await house.api.call("GET", "/readyz"), 503, "shutting_down")
        assert (await house.api.call("GET", "/healthz")).status == 200
        for path, body in [
            (f"/api/sessions/{session_id}/runs", {"input": "more"}),
            (f"/api/sessions/{other}/retry", {}),
            (f"/api/sessions/{other}/compact", None),
            (f"/api/runs/{old['id']}/continue", None),
        ]:
            answer = await house.api.post(path, body)
            refused(answer, 503, "shutting_down")
            assert int(answer.headers["Retry-After"]) > 0
        await exchange.say("Done in time.")
        assert await house.server.wait() == 0
        await house.server.start()
        assert (await house.run(run["id"]))["status"] == "completed"
        assert await house.texts(session_id) == ["hi", "Done in time."]
        assert await house.texts(other) == ["before", "Yes."]


@pytest.mark.one_node("each node closes its streams when it stops, whoever still runs")
async def test_what_does_not_end_in_time_is_interrupted_and_the_queue_stays(
    tmp_path: Path,
) -> None:
    async with open_house(tmp_path, {"TENUTO_DRAIN": "0.3"}) as house:
        session_id = await house.session()
        run, exchange = await house.held(session_id, "one")
        await exchange.text("Hal")
        waiting = await house.prompt(session_id, "two")
        async with house.api.sse(f"/api/sessions/{session_id}/events") as stream:
            await stream.until("part.delta")
            assert await house.server.terminate() == 0
            frames = await stream.to_the_end()
        assert frames[-1].event == "run.finished"
        assert frames[-1].data["run"]["reason"] == "server_stopped"
        await exchange.closed()
        await house.server.start()
        ended = await house.run(run["id"])
        assert (ended["status"], ended["reason"]) == ("interrupted", "server_stopped")
        second = await house.request()
        assert second.prompt == "two"
        assert "Hal" in str(second.messages)
        await second.say("2")
        assert (await house.ended(waiting["id"]))["status"] == "completed"
        assert await house.texts(session_id) == ["one", "Hal", "two", "2"]
        assert (await house.messages(session_id))[1]["finish_reason"] == "interrupted"
        await assert_settled(house.api, session_id)


@pytest.mark.failure(36)
async def test_a_shutdown_is_never_recorded_as_the_users_cancel_nor_the_other_way(
    tmp_path: Path,
) -> None:
    async with open_house(tmp_path, {"TENUTO_DRAIN": "30"}) as house:
        session_id = await house.session()
        run, _ = await house.held(session_id, "hi")
        await draining(house)
        answer = await house.api.post(f"/api/runs/{run['id']}/cancel")
        assert (answer.body["status"], answer.body["reason"]) == ("cancelled", "user")
        assert await house.server.wait() == 0


@pytest.mark.one_node("it looks at the server's process")
async def test_a_second_signal_asks_it_to_hurry(tmp_path: Path) -> None:
    async with open_house(tmp_path, {"TENUTO_DRAIN": "3600"}) as house:
        run, _ = await house.held(await house.session(), "hi")
        await draining(house)
        house.server._signal(signal.SIGINT)
        assert await house.server.wait() == 0
        await house.server.start()
        assert (await house.run(run["id"]))["reason"] == "server_stopped"


async def test_an_idle_server_stops_at_once_though_streams_are_open(tmp_path: Path) -> None:
    async with open_house(tmp_path, {"TENUTO_DRAIN": "3600"}) as house:
        session_id = await house.session()
        async with house.api.sse(f"/api/sessions/{session_id}/events", after="now") as stream:
            await stream.next()
            assert await house.server.terminate() == 0
            assert len(await stream.to_the_end()) == 1
