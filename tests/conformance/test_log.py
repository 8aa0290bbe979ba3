"""The log: gapless, fenced, isolated, told in order."""

import asyncio
from collections.abc import Sequence
from functools import partial

import anyio
import pytest
from anyio.lowlevel import checkpoint
from msgspec.structs import replace

from tenuto.core.desk import Change, Desk
from tenuto.core.error import Fenced, NotFound
from tenuto.core.event import PartDelta, RunAccepted, SessionUpdated, Stored
from tenuto.core.principal import OWNER
from tenuto.core.session import SessionChanges
from tenuto.core.value import MessageId, PartId, StreamId
from tenuto.ports.store import Store
from tests.conformance.driven import START, DrivenSession, instant, whole_log
from tests.conformance.listener import Listener

pytestmark = pytest.mark.anyio


@pytest.mark.guarantee("H6")
async def test_concurrent_appends_and_commits_leave_no_gaps(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.accept("hello")
    await driven.start()
    await driven.say("x")
    before = (await store.session(driven.id)).head

    async with anyio.create_task_group() as group:
        for n in range(30):
            group.start_soon(driven.go_on_saying, f"piece {n}")
            group.start_soon(partial(driven.update, draft=f"draft {n}"))

    page = await store.read(StreamId(driven.id), after=0, limit=1000)
    assert [stored.seq for stored in page.events] == list(range(1, before + 61))
    assert page.head == before + 60
    assert (await store.session(driven.id)).head == before + 60


@pytest.mark.guarantee("H6")
async def test_every_state_that_two_writers_leave_is_one_that_really_was(store: Store) -> None:
    driven = await DrivenSession.begin(store)

    async def write(name: str) -> None:
        for n in range(15):
            await driven.update(title=f"{name}{n}", draft=f"{name}{n}")

    async with anyio.create_task_group() as group:
        group.start_soon(write, "a")
        group.start_soon(write, "b")
        for _ in range(20):
            session = await store.session(driven.id)
            assert session.title == session.draft
            await checkpoint()


async def test_a_page_holds_the_next_events_and_no_more(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    for n in range(5):
        await driven.update(draft=str(n))
    page = await store.read(StreamId(driven.id), after=2, limit=2)
    assert [stored.seq for stored in page.events] == [3, 4]
    assert (page.head, page.folded) == (5, 0)
    assert (await store.read(StreamId(driven.id), after=5, limit=2)).events == ()


async def test_a_log_that_never_was_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        await store.read(StreamId("ses_nobody"), after=0, limit=1)


@pytest.mark.failure(41)
async def test_a_writer_is_fenced_once_its_run_has_ended(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.accept("hello")
    await driven.start()
    await driven.say("all of it")
    open_id = await driven.open_id()
    await driven.settle()
    late = _delta(driven, open_id)
    head = (await store.session(driven.id)).head
    with pytest.raises(Fenced):
        await driven.append(late)
    assert (await store.session(driven.id)).head == head


@pytest.mark.failure(41)
async def test_an_old_epoch_is_fenced_also_while_the_same_run_goes_on(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.accept("hello")
    fence = await driven.start()
    assert fence is not None
    await driven.say("x")
    late = _delta(driven, await driven.open_id())
    control = await store.control(driven.id)

    def take_over(desk: Desk) -> Change[None]:
        taken = replace(desk.control, epoch=desk.control.epoch + 1)
        return Change(events=(), control=taken, result=None)

    await store.commit(driven.id, take_over)
    assert (await store.control(driven.id)).epoch == control.epoch + 1
    with pytest.raises(Fenced):
        await driven.append(late)


@pytest.mark.failure(41)
async def test_a_late_writer_cannot_bring_a_deleted_session_back(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.accept("hello")
    await driven.start()
    await driven.say("x")
    late = _delta(driven, await driven.open_id())
    await driven.delete()
    with pytest.raises(Fenced):
        await driven.append(late)
    with pytest.raises(NotFound):
        await store.session(driven.id)
    assert (await whole_log(store, driven.id))[-1].session_id == driven.id


async def test_only_parts_may_be_appended_without_a_decision(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.accept("hello")
    await driven.start()
    with pytest.raises(TypeError):
        await driven.append(
            SessionUpdated(session_id=driven.id, at=START, changes=SessionChanges(title="x"))
        )
    assert (await store.session(driven.id)).title == "hello"


@pytest.mark.failure(46)
async def test_what_happens_in_one_session_stays_out_of_the_other(store: Store) -> None:
    one, other = await DrivenSession.begin(store, "one"), await DrivenSession.begin(store, "other")
    await other.turn("about pears", "pears are green")
    before = await store.snapshot(other.id)
    log = await whole_log(store, other.id)

    async with anyio.create_task_group() as group:
        group.start_soon(one.turn, "about apples", "red")
        group.start_soon(other.update)
    await one.undo()
    await one.delete()

    assert await store.snapshot(other.id) == before
    assert await whole_log(store, other.id) == log
    assert {event.session_id for event in log} == {other.id}


async def test_another_sessions_fence_opens_nothing(store: Store) -> None:
    one, other = await DrivenSession.begin(store, "one"), await DrivenSession.begin(store, "other")
    for driven in (one, other):
        await driven.accept("hello")
        await driven.start()
        await driven.say("x")
    with pytest.raises(Fenced):
        await store.append(other.id, one.fence, [_delta(other, await other.open_id())])


async def test_the_sink_hears_every_commit_once_and_in_its_order(
    store: Store, listener: Listener
) -> None:
    sessions = [await DrivenSession.begin(store, name) for name in ("one", "other")]
    async with anyio.create_task_group() as group:
        for driven in sessions:
            group.start_soon(driven.turn, "hello", "a", "b", "c", "d")
    for driven in sessions:
        page = await store.read(StreamId(driven.id), after=0, limit=1000)
        assert listener.of(driven.id) == list(page.events)
    page = await store.read(StreamId("default"), after=0, limit=1000)
    assert listener.of("default") == list(page.events)


async def test_what_the_sink_hears_can_be_read(store: Store, listener: Listener) -> None:
    driven = await DrivenSession.begin(store)
    seen: list[tuple[int, int]] = []

    looks: list[asyncio.Task[None]] = []

    async def look(stream: StreamId, last: int) -> None:
        page = await store.read(stream, after=last - 1, limit=1)
        seen.append((last, page.events[0].seq))

    def committed(stream: StreamId, events: Sequence[Stored]) -> None:
        looks.append(asyncio.create_task(look(stream, events[-1].seq)))

    listener.committed = committed  # type: ignore[method-assign]
    await driven.turn("hello", "a", "b")
    await asyncio.gather(*looks)
    assert seen
    assert all(told == read for told, read in seen)


async def test_the_coordinator_hears_of_decisions_and_not_of_deltas(
    store: Store, listener: Listener
) -> None:
    driven = await DrivenSession.begin(store)
    assert listener.changes == []
    await driven.accept("hello")
    await driven.start()
    assert listener.changes == [driven.id, driven.id]
    await driven.say("a", "b")
    assert listener.changes == [driven.id, driven.id]
    await driven.cancel()
    assert listener.changes == [driven.id, driven.id, driven.id]


async def test_a_decision_that_changes_nothing_tells_nobody(
    store: Store, listener: Listener
) -> None:
    driven = await DrivenSession.begin(store)
    listener.heard.clear()
    assert await driven.start() is None
    assert listener.changes == []
    assert listener.heard == []


async def test_events_come_back_as_they_were_stored(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    run = await driven.accept('Grüße 👋 \u0000 \\ "quotes"')
    first = (await store.read(StreamId(driven.id), after=0, limit=1)).events[0]
    assert first.type == "run.accepted"
    assert first.run_id == run.id
    assert first.event() == RunAccepted(
        session_id=driven.id, run_id=run.id, at=instant(1), by=OWNER.id, run=run
    )


def _delta(driven: DrivenSession, message_id: MessageId) -> PartDelta:
    return PartDelta(
        session_id=driven.id,
        run_id=driven.fence.run_id,
        at=START,
        message_id=message_id,
        part_id=PartId("prt_text"),
        offset=1,
        text="late",
    )
