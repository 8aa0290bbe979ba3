"""An events iterator gives each event once and in order, whatever happens to its connections."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import anyio
import pytest

from tenuto.client import ApiError, Client, ConnectionLost, Item, Patience, Snapshot
from tenuto.client.stream import Items
from tenuto.core.value import RunId, SessionId
from tests.client.fake_server import (
    ENDED,
    RUN,
    FakeServer,
    accepted,
    answer,
    beating_stream,
    deleted,
    finished,
    frame,
    held_stream,
    no,
    renamed,
    snapshot,
    stream,
    torn_stream,
)

pytestmark = pytest.mark.anyio

QUICK = Patience(limit_seconds=10, first_seconds=0.01, longest_seconds=0.05, silence_seconds=5)


@asynccontextmanager
async def watching(server: FakeServer, patience: Patience = QUICK) -> AsyncIterator[Client]:
    async with server, Client(server.url, "token", patience=patience) as client:
        yield client


async def seqs(items: Items) -> list[int]:
    return [item.seq async for item in items]


def of_session(client: Client, after: int | None = None) -> Items:
    return client.session(SessionId("ses_1")).events(after=after)


def of_run(client: Client, after: int | None = None) -> Items:
    return client.run(RunId("run_1")).events(after=after)


async def test_a_torn_connection_is_resumed_without_a_repeat_or_a_gap() -> None:
    server = FakeServer(
        torn_stream(renamed(1), renamed(2), renamed(3)[:40]),
        torn_stream(renamed(3)),
        stream(renamed(4), deleted(5)),
    )
    async with watching(server) as client:
        assert await seqs(of_session(client)) == [1, 2, 3, 4, 5]
    path = "GET /api/sessions/ses_1/events"
    assert server.lines == [path, f"{path}?after=2", f"{path}?after=3"]


async def test_a_stream_that_the_server_closes_early_is_resumed() -> None:
    server = FakeServer(stream(renamed(1)), stream(), stream(renamed(2), deleted(3)))
    async with watching(server) as client:
        assert await seqs(of_session(client)) == [1, 2, 3]


async def test_the_caller_s_cursor_is_where_it_begins() -> None:
    server = FakeServer(torn_stream(), stream(renamed(8), deleted(9)))
    async with watching(server) as client:
        assert await seqs(of_session(client, after=7)) == [8, 9]
    assert [asked.query["after"] for asked in server.asked] == ["7", "7"]


async def test_events_that_the_server_repeats_are_not_given_twice() -> None:
    server = FakeServer(
        torn_stream(renamed(1), renamed(2)), stream(renamed(1), renamed(2), deleted(3))
    )
    async with watching(server) as client:
        assert await seqs(of_session(client)) == [1, 2, 3]


async def test_a_gap_is_asked_for_again() -> None:
    server = FakeServer(stream(renamed(1), renamed(3)), stream(renamed(2), renamed(3), deleted(4)))
    async with watching(server) as client:
        assert await seqs(of_session(client)) == [1, 2, 3, 4]


async def test_a_gap_that_stays_is_bridged_by_a_snapshot() -> None:
    server = FakeServer(
        stream(renamed(1), renamed(3)),
        stream(renamed(3)),
        stream(snapshot(6), deleted(7)),
    )
    async with watching(server) as client:
        items = [item async for item in of_session(client)]
    assert [item.seq for item in items] == [1, 6, 7]
    assert isinstance(items[1], Snapshot)
    assert server.asked[2].query == {"after": "now"}


async def test_a_snapshot_moves_the_cursor() -> None:
    server = FakeServer(torn_stream(snapshot(40)), stream(renamed(41), deleted(42)))
    async with watching(server) as client:
        items = [item async for item in of_session(client, after=99)]
    assert isinstance(items[0], Snapshot) and items[0].session.id == "ses_1"
    assert [item.seq for item in items] == [40, 41, 42]
    assert server.asked[1].query == {"after": "40"}


async def test_now_is_asked_again_until_the_snapshot_has_come() -> None:
    server = FakeServer(torn_stream(snapshot(4)[:30]), stream(snapshot(5), deleted(6)))
    async with watching(server) as client:
        items = client.session(SessionId("ses_1")).events(after="now")
        assert await seqs(items) == [5, 6]
    assert [asked.query["after"] for asked in server.asked] == ["now", "now"]


async def test_a_server_that_is_gone_for_a_while_is_waited_for() -> None:
    server = FakeServer(held_stream(renamed(1)), stream(renamed(2), deleted(3)))
    async with watching(server) as client, aclosing(of_session(client)) as items:
        assert (await anext(items)).seq == 1
        await server.stop()
        async with anyio.create_task_group() as group:

            async def come_back() -> None:
                await anyio.sleep(0.2)
                await server.start()

            group.start_soon(come_back)
            assert [item.seq async for item in items] == [2, 3]


async def test_a_silent_connection_is_dropped_and_resumed() -> None:
    patience = Patience(first_seconds=0.01, silence_seconds=0.3)
    server = FakeServer(held_stream(renamed(1)), stream(deleted(2)))
    async with watching(server, patience) as client:
        assert await seqs(of_session(client)) == [1, 2]


async def test_heartbeats_keep_a_connection() -> None:
    patience = Patience(first_seconds=0.01, silence_seconds=1.0)
    server = FakeServer(beating_stream(renamed(1), deleted(2), beats=15, every=0.1))
    async with watching(server, patience) as client:
        assert await seqs(of_session(client)) == [1, 2]
    assert len(server.asked) == 1


async def test_a_server_that_stays_away_is_given_up() -> None:
    patience = Patience(limit_seconds=0.3, first_seconds=0.01, longest_seconds=0.05)
    async with FakeServer() as server:
        url = server.url
    async with Client(url, "token", patience=patience) as client:
        with pytest.raises(ConnectionLost):
            await seqs(of_session(client))


async def test_a_no_of_the_server_ends_the_iterator() -> None:
    server = FakeServer(torn_stream(renamed(1)), no(404, "not_found"))
    async with watching(server) as client:
        items = of_session(client)
        assert (await anext(items)).seq == 1
        with pytest.raises(ApiError, match="404 not_found"):
            await anext(items)


async def test_a_server_that_is_stopping_is_asked_again() -> None:
    server = FakeServer(
        stream(renamed(1)),
        no(503, "shutting_down", headers={"Retry-After": "0"}),
        stream(deleted(2)),
    )
    async with watching(server) as client:
        assert await seqs(of_session(client)) == [1, 2]


async def test_a_run_s_iterator_ends_after_its_run_finished() -> None:
    # The seqs are the session's: a run has only some of them.
    server = FakeServer(torn_stream(accepted(3)), held_stream(finished(7)))
    async with watching(server) as client:
        assert await seqs(of_run(client)) == [3, 7]
    path = "GET /api/runs/run_1/events"
    assert server.lines == [path, f"{path}?after=3"]


async def test_a_snapshot_that_tells_of_the_ending_ends_a_run_s_iterator() -> None:
    server = FakeServer(held_stream(snapshot(9, runs=[ENDED])))
    async with watching(server) as client:
        assert await seqs(of_run(client, after=100)) == [9]


async def test_a_cursor_past_the_run_s_end_ends_the_iterator() -> None:
    server = FakeServer(stream(), stream(accepted(3), finished(7)))
    async with watching(server) as client:
        assert await seqs(of_run(client, after=7)) == []


async def test_a_run_that_ended_while_the_stream_was_closed_is_still_shown_to_end() -> None:
    whole = stream(accepted(3), finished(7))
    server = FakeServer(stream(accepted(3)), whole, stream(finished(7)))
    async with watching(server) as client:
        assert await seqs(of_run(client)) == [3, 7]


async def test_waiting_for_a_run_gives_its_ending_across_connections() -> None:
    server = FakeServer(answer(RUN), torn_stream(accepted(1)), held_stream(finished(2)))
    async with watching(server) as client:
        run = await client.run(RunId("run_1")).wait()
    assert (run.status, run.reason) == ("completed", "end_turn")


async def test_an_event_of_a_kind_that_is_not_known_is_passed_over() -> None:
    server = FakeServer(stream(renamed(1), frame(2, "moon.eclipsed"), deleted(3)))
    async with watching(server) as client:
        assert await seqs(of_session(client)) == [1, 3]


async def test_closing_an_iterator_hangs_up() -> None:
    server = FakeServer(held_stream(renamed(1)))
    async with watching(server) as client:
        async with aclosing(of_session(client)) as items:
            assert (await anext(items)).seq == 1
        with anyio.fail_after(5):
            await server.hung_up.wait()


async def test_an_attached_run_goes_on_by_its_id_when_its_connection_is_lost() -> None:
    server = FakeServer(
        torn_stream(accepted(1)[:50]),
        torn_stream(accepted(1), renamed(2)),
        stream(finished(3)),
    )
    items: list[Item] = []
    async with watching(server) as client:
        session = client.session(SessionId("ses_1"))
        async with session.attach("Hi", idempotency_key="k") as run:
            assert run.id == "run_1"
            items = [item async for item in run.attached_events()]
    assert [item.seq for item in items] == [1, 2, 3]
    assert server.lines == [
        "POST /api/sessions/ses_1/runs",
        "POST /api/sessions/ses_1/runs",
        "GET /api/runs/run_1/events?after=2",
    ]
    assert {asked.headers.get("Idempotency-Key") for asked in server.asked[:2]} == {"k"}
    assert server.asked[0].headers["Accept"] == "text/event-stream"


async def test_leaving_an_attached_run_hangs_up() -> None:
    server = FakeServer(held_stream(accepted(1)))
    async with watching(server) as client:
        async with client.session(SessionId("ses_1")).attach("Hi"):
            assert not server.hung_up.is_set()
        with anyio.fail_after(5):
            await server.hung_up.wait()
