"""A deleted session is gone for good, and says so in its log until it is purged."""

import pytest
from msgspec.structs import replace

from tenuto.core.approval import Approval
from tenuto.core.error import NotFound
from tenuto.core.event import RunFinished, SessionDeleted
from tenuto.core.principal import OWNER
from tenuto.core.run import Reason
from tenuto.core.value import Instant, StreamId
from tenuto.ports.query import Once, RunQuery, SessionQuery
from tenuto.ports.store import Store
from tests.conformance.driven import DrivenSession, instant, whole_log
from tests.conformance.listener import Listener

pytestmark = pytest.mark.anyio


async def test_nothing_of_a_deleted_session_is_found(store: Store) -> None:
    driven = await DrivenSession.begin(store, title="secret plans")
    await driven.accept("hush")
    await driven.start()
    approval = await driven.ask(await driven.call_tool())
    queued = await driven.accept("hush again")
    await driven.delete()

    for missing in (
        store.session(driven.id),
        store.control(driven.id),
        store.snapshot(driven.id),
        store.open_message(driven.id),
        store.background(driven.id),
        store.user_message(driven.id, None),
        store.things(driven.id, Approval),
        store.thing(Approval, approval.id),
        store.run(queued.id),
        store.placed_run(driven.fence.run_id),
        store.runs(RunQuery(session_id=driven.id)),
        driven.accept("too late"),
    ):
        with pytest.raises(NotFound):
            await missing
    assert (await store.sessions(SessionQuery())).sessions == ()
    assert (await store.sessions(SessionQuery(words="secret"))).sessions == ()
    assert (await store.sessions(SessionQuery(words="hush"))).sessions == ()
    assert (await store.runs(RunQuery())).runs == ()
    assert await store.orphans(driven.node) == ()
    assert await store.waiting_sessions() == ()


async def test_its_log_can_be_read_to_the_end_until_it_is_purged(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.accept("hello")
    await driven.start()
    await driven.say("partial")
    await driven.accept("waiting")
    await driven.delete()
    log = await whole_log(store, driven.id)
    assert isinstance(log[-1], SessionDeleted)
    endings = [event.run.reason for event in log if isinstance(event, RunFinished)]
    assert endings == [Reason.DELETED, Reason.DELETED]
    page = await store.read(StreamId(driven.id), after=0, limit=1000)
    assert page.head == len(log)

    assert await store.purge(before=log[-1].at) == 0
    assert await whole_log(store, driven.id) == log
    assert await store.purge(before=instant(59_000)) == 1
    with pytest.raises(NotFound):
        await store.read(StreamId(driven.id), after=0, limit=1)
    assert await store.purge(before=instant(59_000)) == 0


async def test_the_workspaces_log_forgets_what_was_said_and_tells_of_the_end(
    store: Store, listener: Listener
) -> None:
    other = await DrivenSession.begin(store, "other")
    driven = await DrivenSession.begin(store)
    await driven.accept("hush")
    await driven.start()
    await other.accept("stays")
    before = await store.read(StreamId("default"), after=0, limit=1000)
    await driven.delete()

    page = await store.read(StreamId("default"), after=0, limit=1000)
    assert not [stored for stored in page.events if b"hush" in stored.body]
    kept = [stored for stored in before.events if stored.event().session_id == other.id]
    assert [stored for stored in page.events if stored.seq <= before.head] == kept
    gone = [stored.seq for stored in before.events if stored.event().session_id == driven.id]
    assert page.folded == max(gone)
    assert page.folded <= before.head
    tail = [stored for stored in page.events if stored.seq > before.head]
    assert [stored.type for stored in tail] == ["run.finished", "session.deleted"]
    assert [stored.seq for stored in tail] == [before.head + 1, before.head + 2]
    assert listener.heard[-1] == (StreamId("default"), tuple(tail))


async def test_a_deleted_sessions_requests_are_forgotten(store: Store) -> None:
    once = Once(by=OWNER.id, key="k", digest="d", at=instant(1))
    driven = await DrivenSession.begin(store)
    await driven.accept("hello", once=once)
    await driven.delete()
    other = await DrivenSession.begin(store, "other")
    run = await other.accept("hello", once=once)
    assert run.session_id == other.id


async def test_requests_are_kept_for_a_day(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    once = Once(by=OWNER.id, key="k", digest="d", at=instant(1))
    first = await driven.accept("hello", once=once)
    await store.purge(before=_on_the_next_day(once.at))
    assert await driven.accept("hello", once=once) == first
    await store.purge(before=_on_the_next_day(instant(2)))
    later = await driven.accept("hello", once=replace(once, digest="other"))
    assert later.id != first.id


def _on_the_next_day(at: str) -> Instant:
    return Instant(at.replace("2030-01-01", "2030-01-02"))
