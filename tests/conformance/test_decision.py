"""A decision is stored whole or not at all, and once."""

import anyio
import pytest
from msgspec.structs import replace

from tenuto.core.desk import Change, Desk, Sight
from tenuto.core.error import Conflict, IdempotencyMismatch, NotFound, SessionBusy
from tenuto.core.event import MessageFinished, SessionUpdated
from tenuto.core.file import FileInfo
from tenuto.core.principal import OWNER
from tenuto.core.run import WhenBusy
from tenuto.core.session import SessionChanges, Workspace
from tenuto.core.value import FileId, MessageId, SessionId, WorkspaceId
from tenuto.ports.query import Once
from tenuto.ports.store import Store
from tests.conformance.driven import START, DrivenSession, instant, new_session, whole_log
from tests.conformance.listener import Listener

pytestmark = pytest.mark.anyio

ONCE = Once(by=OWNER.id, key="POST /runs k1", digest="d1", at=instant(1))


class Refused(Exception):
    pass


async def test_a_decision_that_raises_stores_nothing(store: Store, listener: Listener) -> None:
    driven = await DrivenSession.begin(store)
    await driven.turn("hello", "hi")
    before, log = await store.snapshot(driven.id), await whole_log(store, driven.id)
    listener.heard.clear()
    listener.changes.clear()

    def refuse(desk: Desk) -> Change[None]:
        raise Refused

    with pytest.raises(Refused):
        await store.commit(driven.id, refuse, once=ONCE)
    assert await store.snapshot(driven.id) == before
    assert await whole_log(store, driven.id) == log
    assert (listener.heard, listener.changes) == ([], [])
    await driven.accept("the key is still free", once=ONCE)
    assert (await store.session(driven.id)).queued == 1


async def test_a_change_that_cannot_be_written_stores_nothing(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    before = await store.snapshot(driven.id)

    def nonsense(desk: Desk) -> Change[None]:
        named = SessionUpdated(session_id=driven.id, at=START, changes=SessionChanges(title="half"))
        closed = MessageFinished(
            session_id=driven.id, at=START, message_id=MessageId("msg_x"), finish_reason="end_turn"
        )
        return Change(events=(named, closed), control=desk.control, result=None)

    with pytest.raises(ValueError, match="msg_x"):
        await store.commit(driven.id, nonsense)
    assert await store.snapshot(driven.id) == before
    assert await whole_log(store, driven.id) == []


async def test_a_refused_decision_does_not_disturb_its_neighbours(store: Store) -> None:
    sessions = [await DrivenSession.begin(store, f"s{n}") for n in range(10)]
    refused = 0

    async def prompt_twice(driven: DrivenSession) -> None:
        nonlocal refused
        await driven.accept("first")
        try:
            await driven.accept("second", when_busy=WhenBusy.REJECT)
        except SessionBusy:
            refused += 1

    async with anyio.create_task_group() as group:
        for driven in sessions:
            group.start_soon(prompt_twice, driven)
    assert refused == 10
    assert [(await store.session(driven.id)).queued for driven in sessions] == [1] * 10


async def test_the_desk_shows_the_session_as_it_is_now(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.accept("one")
    await driven.start()
    await driven.say("a", "b")
    await driven.accept("two")
    seen: list[Desk] = []

    def look(desk: Desk) -> Change[None]:
        seen.append(desk)
        return Change(events=(), control=desk.control, result=None)

    _, head = await store.commit(driven.id, look)
    await store.commit(driven.id, look, sight=Sight.HISTORY)
    short, full = seen
    assert short.session.head == head == len(await whole_log(store, driven.id))
    assert short.active is not None and short.active.id == driven.fence.run_id
    assert [run.input for run in short.queue] == ["two"]
    assert (short.outline, short.last_run) == ((), None)
    assert [line.role for line in full.outline] == ["user", "assistant"]
    assert full.last_run is not None and full.last_run.input == "two"


async def test_a_decision_about_no_session_is_not_found(store: Store) -> None:
    driven = DrivenSession(store, SessionId("ses_nobody"))
    with pytest.raises(NotFound):
        await driven.accept("hello")


@pytest.mark.failure(19)
async def test_the_same_request_twice_makes_one_run(store: Store, listener: Listener) -> None:
    driven = await DrivenSession.begin(store)
    first = await driven.accept("hello", once=ONCE)
    listener.changes.clear()
    again = await driven.accept("hello", once=replace(ONCE, at=instant(9)))
    assert again == first
    assert (await store.session(driven.id)).queued == 1
    assert listener.changes == []


@pytest.mark.failure(19)
async def test_the_same_request_at_the_same_time_makes_one_run(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(lambda: driven.accept("hello", once=ONCE))
    assert (await store.session(driven.id)).queued == 1


async def test_a_repeated_request_answers_with_its_first_result_and_the_present_head(
    store: Store,
) -> None:
    driven = await DrivenSession.begin(store)

    def count(desk: Desk) -> Change[dict[str, int]]:
        event = SessionUpdated(session_id=driven.id, at=START, changes=SessionChanges(draft="x"))
        return Change(events=(event,), control=desk.control, result={"head": desk.session.head})

    first, _ = await store.commit(driven.id, count, once=ONCE, answer=dict)
    await driven.update(draft="y")
    again, head = await store.commit(driven.id, count, once=ONCE, answer=dict)
    assert (first, again, head) == ({"head": 0}, {"head": 0}, 2)


async def test_another_body_under_the_same_key_is_a_mismatch(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.accept("hello", once=ONCE)
    with pytest.raises(IdempotencyMismatch):
        await driven.accept("something else", once=replace(ONCE, digest="d2"))
    assert (await store.session(driven.id)).queued == 1


async def test_a_session_a_workspace_and_a_file_are_made_once(store: Store) -> None:
    made = await store.create_session(new_session("a"), once=replace(ONCE, key="s"))
    again = await store.create_session(new_session("b"), once=replace(ONCE, key="s"))
    assert again == made
    with pytest.raises(NotFound):
        await store.session(SessionId("ses_b"))

    place = Workspace(id=WorkspaceId("wsp_a"), name="a", path="/a", created_at=START)
    await store.put_workspace(place, once=replace(ONCE, key="w"))
    other = replace(place, id=WorkspaceId("wsp_b"))
    assert await store.put_workspace(other, once=replace(ONCE, key="w")) == place

    info = FileInfo(id=FileId("fil_a"), name="a", media_type="t/x", size=3, created_at=START)
    await store.put_file(info, b"abc", once=replace(ONCE, key="f"))
    twice = replace(info, id=FileId("fil_b"))
    assert await store.put_file(twice, b"abc", once=replace(ONCE, key="f")) == info
    with pytest.raises(IdempotencyMismatch):
        await store.put_file(twice, b"x", once=Once(by=OWNER.id, key="f", digest="other", at=START))


async def test_a_session_is_made_only_where_there_is_a_workspace(store: Store) -> None:
    with pytest.raises(NotFound):
        await store.create_session(new_session("a", workspace_id=WorkspaceId("wsp_none")))
    with pytest.raises(NotFound):
        await store.session(SessionId("ses_a"))


async def test_an_id_is_given_once(store: Store) -> None:
    await DrivenSession.begin(store)
    with pytest.raises(Conflict):
        await store.create_session(new_session("one", title="impostor"))
    assert (await store.session(SessionId("ses_one"))).title == ""


async def test_a_cancelled_caller_leaves_a_store_that_goes_on(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await driven.accept("perhaps")
    # Nobody waits for it any more; it may still have been stored, whole.
    await driven.accept("surely")
    session = await store.session(driven.id)
    prompts = [run.input for run in (await store.snapshot(driven.id)).runs]
    assert prompts in (["surely"], ["perhaps", "surely"])
    assert session.queued == len(prompts)
