"""Changes to what was said: each one change, none of them while the session works."""

from collections.abc import Callable
from typing import Any

import pytest

from tenuto.core import cancelling, editing, steering
from tenuto.core.accepting import Prompt
from tenuto.core.desk import Change, Desk
from tenuto.core.editing import QueueEdit
from tenuto.core.error import Fenced, NotFound, NothingToUndo, NotLast, SessionBusy
from tenuto.core.event import SessionCompacted, SessionDeleted, SessionUpdated
from tenuto.core.principal import OWNER
from tenuto.core.run import Mode, Run, WhenBusy
from tenuto.core.session import SessionChanges
from tenuto.core.value import MessageId, RunId
from tests.core.little_store import LittleStore, ending

DONE = ending("completed", "end_turn")
AGAIN = Prompt(by=OWNER.id, run_id=RunId("run_again"), input="again", model="test/model")


def after(*prompts: str) -> LittleStore:
    """A session in which these prompts were answered."""
    store = LittleStore()
    for prompt in prompts:
        store.accept(prompt)
        store.start()
        store.say(f"to {prompt}")
        store.settle(DONE)
    return store


def shown(store: LittleStore) -> list[str]:
    return [message.text() for message in store.messages.values()]


def undo(store: LittleStore) -> tuple[MessageId, ...]:
    return store.commit(lambda desk: editing.undo(desk, store.moment()))


def edit_queue(store: LittleStore, run_id: RunId, **fields: Any) -> Run:
    edit = QueueEdit(**fields)
    return store.commit(lambda desk: editing.change_queued(desk, run_id, edit, store.moment()))


def rename(store: LittleStore, title: str) -> None:
    store.commit(lambda desk: editing.update(desk, SessionChanges(title=title), store.moment()))


def generate_title(store: LittleStore, title: str) -> None:
    store.commit(lambda desk: editing.name(desk, title, store.moment()))


@pytest.mark.guarantee("H9")
def test_undo_removes_the_last_prompt_and_all_after_it() -> None:
    store = after("one", "two")
    assert undo(store) == ("msg_003_u", "msg_003_a")
    assert shown(store) == ["one", "to one"]
    undo(store)
    assert shown(store) == []
    with pytest.raises(NothingToUndo):
        undo(store)


def test_undo_also_takes_what_a_steered_run_said_after_its_last_prompt() -> None:
    store = LittleStore()
    store.accept("go")
    store.start()
    store.say("Going.")
    store.accept("left", when_busy=WhenBusy.STEER)
    message = store.open_message()
    assert message is not None
    store.commit(lambda desk: steering.take_steers(desk, store.fence(), message, store.moment()))
    store.say("Left.")
    store.settle(DONE)
    undo(store)
    assert shown(store) == ["go", "Going."]


BUSY_STEPS: list[Callable[[LittleStore, Desk], Change[Any]]] = [
    lambda store, desk: editing.undo(desk, store.moment()),
    lambda store, desk: editing.run_again(desk, MessageId("msg_001_u"), AGAIN, store.moment()),
    lambda store, desk: editing.go_on(desk, RunId("run_001"), AGAIN, store.moment()),
    lambda store, desk: editing.compact(desk, AGAIN, store.moment()),
]


@pytest.mark.parametrize("step", BUSY_STEPS)
@pytest.mark.parametrize("started", [True, False])
def test_nothing_is_rewound_or_done_again_while_the_session_works(
    step: Callable[[LittleStore, Desk], Change[Any]], started: bool
) -> None:
    store = after("one")
    store.accept("two")
    if started:
        store.start()
    before = list(store.log)
    with pytest.raises(SessionBusy):
        store.commit(lambda desk: step(store, desk))
    assert store.log == before


def test_a_prompt_is_asked_again_in_its_place_in_one_change() -> None:
    store = after("one", "two", "three")
    head = store.session.head
    run = store.commit(
        lambda desk: editing.run_again(desk, MessageId("msg_003_u"), AGAIN, store.moment())
    )
    assert [stored.type for stored in store.log[head:]] == ["session.rewound", "run.accepted"]
    store.start()
    assert (run.id, shown(store)) == ("run_again", ["one", "to one", "again", ""])


@pytest.mark.parametrize("message_id", ["msg_001_a", "msg_999_u"])
def test_only_a_message_of_the_user_can_be_asked_again(message_id: str) -> None:
    store = after("one")
    with pytest.raises(NotFound):
        store.commit(
            lambda desk: editing.run_again(desk, MessageId(message_id), AGAIN, store.moment())
        )


def test_only_the_last_run_can_go_on() -> None:
    store = after("one", "two")
    first, last = store.runs
    with pytest.raises(NotLast):
        store.commit(lambda desk: editing.go_on(desk, first, AGAIN, store.moment()))
    run = store.commit(lambda desk: editing.go_on(desk, last, AGAIN, store.moment()))
    assert run.continues == last
    store.start()
    assert [m.role for m in store.messages.values()][-2:] == ["assistant", "assistant"]


def test_a_prompt_that_was_taken_back_does_not_count_as_the_last() -> None:
    store = after("one")
    (run,) = store.runs
    taken = store.accept("two")
    store.commit(lambda desk: cancelling.withdraw(desk, taken, store.moment()))
    assert store.commit(lambda desk: editing.go_on(desk, run, AGAIN, store.moment())).continues


def test_settings_change_as_named_and_nothing_else_does() -> None:
    store = LittleStore(title="a")
    before = store.session.updated_at
    changes = SessionChanges(pinned=True, draft="half a sent", system="Be brief.")
    store.commit(lambda desk: editing.update(desk, changes, store.moment()))
    session = store.session
    assert (session.pinned, session.draft, session.system) == (True, "half a sent", "Be brief.")
    assert (session.title, session.title_source, session.updated_at) == ("a", "provisional", before)


def test_no_change_is_no_event() -> None:
    store = LittleStore()
    store.commit(lambda desk: editing.update(desk, SessionChanges(), store.moment()))
    assert store.log == []


@pytest.mark.guarantee("H8")
def test_a_generated_title_never_overwrites_the_users() -> None:
    store = LittleStore()
    store.accept("hello")
    generate_title(store, "A greeting")
    assert (store.session.title, store.session.title_source) == ("A greeting", "auto")
    rename(store, "Mine")
    generate_title(store, "Another greeting")
    assert (store.session.title, store.session.title_source) == ("Mine", "user")


def test_a_generated_title_is_given_once() -> None:
    store = LittleStore()
    generate_title(store, "First")
    generate_title(store, "Second")
    assert store.session.title == "First"


@pytest.mark.parametrize(
    ("position", "order"), [(0, "cab"), (1, "acb"), (2, "abc"), (99, "abc"), (10**30, "abc")]
)
def test_a_waiting_run_can_be_moved(position: int, order: str) -> None:
    store = LittleStore()
    names = {store.accept(): name for name in "abc"}
    last = list(names)[-1]
    edit_queue(store, last, position=position)
    assert "".join(names[run] for run in store.control.queue) == order
    told = store.events(SessionUpdated)[-1].changes.queue
    assert [names[RunId(run)] for run in told or ()] == [*order]
    assert names[store.start().run.id] == order[0]


def test_a_waiting_run_can_ask_something_else_or_become_a_steer() -> None:
    store = LittleStore()
    run = store.accept("typo")
    assert edit_queue(store, run, input="right").input == "right"
    assert edit_queue(store, run, steer=True).when_busy == "steer"
    assert (store.runs[run].input, store.runs[run].when_busy) == ("right", "steer")
    assert store.runs[run].accept_number == 1


def test_a_run_that_has_started_cannot_be_changed() -> None:
    store = LittleStore()
    run = store.accept()
    store.start()
    with pytest.raises(SessionBusy):
        edit_queue(store, run, input="too late")


def test_a_summary_changes_nothing_that_is_shown() -> None:
    store = after("one")
    store.accept("", mode=Mode.COMPACT)
    store.start()
    before = shown(store)
    through = MessageId("msg_001_a")
    store.commit(
        lambda desk: editing.compacted(desk, store.fence(), through, "short", store.moment())
    )
    (event,) = store.events(SessionCompacted)
    assert (event.through_message_id, event.summary, shown(store)) == (through, "short", before)


@pytest.mark.failure(10)
def test_a_cancelled_compaction_leaves_no_summary() -> None:
    store = after("one")
    store.accept("", mode=Mode.COMPACT)
    store.start()
    store.cancel()
    through = MessageId("msg_001_a")
    store.commit(
        lambda desk: editing.compacted(desk, store.fence(), through, "short", store.moment())
    )
    assert store.events(SessionCompacted) == []


def test_a_deleted_session_ends_everything_and_then_its_log() -> None:
    store = LittleStore()
    runs = [store.accept(), store.accept()]
    store.start()
    store.say("half")
    approval = store.ask(store.call())
    fence, message = store.fence(), store.open_message()
    store.commit(lambda desk: editing.delete(desk, message, store.moment()))
    assert {(store.runs[r].status, store.runs[r].reason) for r in runs} == {
        ("cancelled", "deleted")
    }
    assert store.approvals[approval].state == "cancelled"
    assert isinstance(store.log[-1].event(), SessionDeleted)
    with pytest.raises(Fenced):
        store.settle(DONE, fence)
