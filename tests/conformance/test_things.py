"""Things of a session: kept in the order in which its log first told of them, open or not."""

import pytest

from tenuto.core.approval import Approval, Decision
from tenuto.core.desk import Change, Desk
from tenuto.core.error import NotFound
from tenuto.core.thing import Thing
from tenuto.core.value import SessionId
from tenuto.ports.store import Store
from tests.conformance.driven import DrivenSession, fork_of, new_session

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
