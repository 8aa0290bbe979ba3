"""Things of a session: kept in the order in which its log first told of them, open or not."""

from functools import partial

import pytest

from tenuto.core import changing
from tenuto.core.approval import Approval, Decision
from tenuto.core.desk import Change, Desk
from tenuto.core.error import NotFound
from tenuto.core.file import FileInfo
from tenuto.core.file_change import FileChange, FileState, change_id
from tenuto.core.thing import Thing
from tenuto.core.value import CallId, FileId, Instant, RunId, SessionId
from tenuto.ports.store import Store
from tests.conformance.driven import START, DrivenSession, fork_of, new_session

pytestmark = pytest.mark.anyio


async def asking(store: Store, name: str, *asked: str) -> tuple[DrivenSession, list[Approval]]:
    driven = await DrivenSession.begin(store, name)
    await driven.accept("go")
    await driven.start()
    calls = [await driven.call_tool(part=f"prt_{one}") for one in asked]
    return driven, [await driven.ask(c, n) for c, n in zip(calls, asked, strict=True)]


async def on_the_desk(driven: DrivenSession) -> tuple[Thing, ...]:
    def look(desk: Desk) -> Change[tuple[Thing, ...]]:
        return Change(events=(), control=desk.control, result=desk.things)

    seen, _ = await driven.store.commit(driven.id, look)
    return seen


async def test_a_thing_keeps_its_place_when_it_changes_and_leaves_the_desk(store: Store) -> None:
    # Their ids are in another order than they were asked in.
    driven, (first, second, third) = await asking(store, "one", "apr_c", "apr_a", "apr_b")
    assert await on_the_desk(driven) == (first, second, third)
    denied = await driven.answer(second, Decision.DENY)
    assert await store.things(driven.id, Approval) == (first, denied, third)
    assert await on_the_desk(driven) == (first, third)
    assert (await store.snapshot(driven.id)).things == (first, third)
    assert await store.thing(Approval, "apr_a") == denied


async def test_what_is_open_in_any_session_is_found(store: Store) -> None:
    one, (first, second) = await asking(store, "one", "apr_2", "apr_1")
    two, (other,) = await asking(store, "two", "apr_3")
    assert await store.open_things(Approval) == (first, second, other)
    await one.answer(first, Decision.ALLOW_ONCE)
    assert await store.open_things(Approval) == (second, other)
    await two.settle()
    await one.delete()
    assert await store.open_things(Approval) == ()
    with pytest.raises(NotFound):
        await store.thing(Approval, second.id)


async def test_a_fork_begins_without_the_things_of_its_source(store: Store) -> None:
    driven, asked = await asking(store, "one", "apr_1")
    await driven.settle()
    fork = SessionId("ses_fork")
    messages = (await store.snapshot(driven.id)).messages
    await store.create_session(new_session("fork"), *fork_of(messages, fork))
    assert await store.things(fork, Approval) == ()
    assert [one.id for one in await store.things(driven.id, Approval)] == [asked[0].id]


async def test_there_is_no_thing_of_a_session_that_is_not_there(store: Store) -> None:
    with pytest.raises(NotFound):
        await store.things(SessionId("ses_none"), Approval)
    with pytest.raises(NotFound):
        await store.thing(Approval, "apr_none")


async def changing_files(driven: DrivenSession, *paths: str, kept: FileId | None = None) -> RunId:
    """A run of the session that changes these files."""
    await driven.accept("go")
    fence = await driven.start()
    assert fence is not None
    state = FileState(digest="d", size=1, mode=0o644, file_id=kept)
    changes = tuple(
        FileChange(
            id=change_id(fence.run_id, path),
            session_id=driven.id,
            run_id=fence.run_id,
            call_id=CallId("call"),
            path=path,
            before=state,
        )
        for path in paths
    )
    for change in changes:
        decide = partial(changing.changed, fence=fence, changes=[change], moment=driven.moment())
        await driven.store.commit(driven.id, decide)
    await driven.settle()
    return fence.run_id


async def test_the_changes_of_a_run_are_its_own_in_the_order_they_came(store: Store) -> None:
    driven = await DrivenSession.begin(store, "one")
    first = await changing_files(driven, "b", "a", "c")
    second = await changing_files(driven, "a")
    assert [change.path for change in await store.changes(first)] == ["b", "a", "c"]
    assert [change.path for change in await store.changes(second)] == ["a"]
    assert await store.changes(RunId(first[:-1])) == ()
    assert await on_the_desk(driven) == ()
    await driven.delete()
    assert await store.changes(first) == ()


async def test_kept_bytes_go_with_their_session_or_after_thirty_days(store: Store) -> None:
    old, young = FileId("kept_2030-01-01_a"), FileId("kept_2030-01-15_b")
    for name in (old, young):
        await store.put_file(
            FileInfo(id=name, name="f", media_type="x", size=1, created_at=START),
            b"1",
        )
    driven = await DrivenSession.begin(store, "one")
    await changing_files(driven, "a", kept=old)
    await changing_files(driven, "b", kept=young)
    await store.purge(before=Instant("2030-01-30T00:00:00.000Z"))
    assert await store.file_content(old) == b"1"
    await store.purge(before=Instant("2030-02-02T00:00:00.000Z"))
    with pytest.raises(NotFound):
        await store.file_content(old)
    assert await store.file_content(young) == b"1"
    await driven.delete()
    with pytest.raises(NotFound):
        await store.file_content(young)
