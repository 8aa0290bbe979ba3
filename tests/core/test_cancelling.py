"""Cancelling and taking back, over the whole desk."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tenuto.core import cancelling, starting
from tenuto.core.desk import Change
from tenuto.core.error import NotFound, SessionBusy
from tenuto.core.run import Ending, Mode, Reason
from tenuto.core.value import RunId
from tests.core.little_store import LittleStore, ending

DONE = ending("completed", "end_turn")


def busy(waiting: int) -> tuple[LittleStore, list[RunId]]:
    """A session with a run under way and some that wait."""
    store = LittleStore()
    runs = [store.accept(f"prompt {n}") for n in range(waiting + 1)]
    store.start()
    return store, runs


@pytest.mark.guarantee("C1", "C14")
def test_a_cancel_reaches_the_active_run_and_all_that_wait() -> None:
    store, runs = busy(2)
    cancelled = store.cancel()
    assert (list(cancelled.runs), cancelled.active) == (runs, runs[0])
    store.settle(DONE)
    assert {(store.runs[run].status, store.runs[run].reason) for run in runs} == {
        ("cancelled", "user")
    }


@pytest.mark.guarantee("C2", "C6", "H15")
def test_a_cancelled_prompt_keeps_its_words_and_one_empty_answer() -> None:
    store, runs = busy(1)
    store.cancel()
    said, answer = (m for m in store.messages.values() if m.run_id == runs[1])
    assert (said.role, said.text()) == ("user", "prompt 1")
    assert (answer.role, answer.parts, answer.finish_reason) == ("assistant", (), "cancelled")
    assert store.kinds(runs[1]) == [
        "run.accepted",
        "message.started",
        "message.started",
        "message.finished",
        "run.finished",
    ]


@pytest.mark.guarantee("C8")
def test_a_prompt_accepted_after_a_cancel_runs_before_the_covered_one_has_settled() -> None:
    store, runs = busy(0)
    store.cancel()
    later = store.accept("later")
    assert store.settle(DONE).id == runs[0]
    assert store.start().run.id == later
    assert store.settle(DONE).status == "completed"


@pytest.mark.guarantee("C7")
def test_a_cancel_of_an_idle_session_does_nothing() -> None:
    store = LittleStore()
    cancelled = store.cancel()
    assert (cancelled.runs, cancelled.active, store.log) == ((), None, [])
    store.accept()
    store.start()
    assert store.settle(DONE).status == "completed"


def test_a_second_cancel_changes_nothing() -> None:
    store, runs = busy(2)
    store.cancel()
    log = list(store.log)
    assert store.cancel().runs == (runs[0],)
    assert store.log == log
    assert store.settle(DONE).reason == "user"


def test_a_cancel_of_one_run_leaves_the_others_alone() -> None:
    store, runs = busy(3)
    assert store.cancel_run(runs[2]).runs == (runs[2],)
    assert store.control.queue == (runs[1], runs[3])
    assert store.cancel_run(runs[0]).active == runs[0]
    assert store.settle(DONE).status == "cancelled"
    assert store.start().run.id == runs[1]
    assert store.settle(DONE).status == "completed"


@pytest.mark.parametrize("how", [DONE, ending("failed", "internal")])
def test_a_cancel_of_an_ended_run_reports_nothing_and_changes_nothing(
    how: Ending,
) -> None:
    store, runs = busy(0)
    ended = store.settle(how)
    log = list(store.log)
    assert store.cancel_run(runs[0]).runs == ()
    assert (store.log, store.runs[runs[0]]) == (log, ended)


@given(st.permutations(["start", "cancel"]))
def test_whether_a_run_starts_before_or_after_its_cancel_it_ends_cancelled(
    order: list[str],
) -> None:
    store = LittleStore()
    run = store.accept("hello")
    steps: dict[str, Callable[[], object]] = {
        "start": lambda: store.commit(lambda desk: starting.start_next(desk, store.moment())),
        "cancel": store.cancel,
    }
    for step in order:
        steps[step]()
    if store.session.active_run is not None:
        store.settle(DONE)
    assert (store.runs[run].status, store.runs[run].reason) == ("cancelled", "user")
    assert [(m.role, m.finish_reason) for m in store.messages.values()] == [
        ("user", "end_turn"),
        ("assistant", "cancelled"),
    ]


def test_a_covered_run_that_still_waits_is_not_started() -> None:
    store = LittleStore()
    run = store.accept()
    other = store.accept()
    # As another node would leave it: the mark is there, the runs are not ended yet.
    cancels = store.control.cancels.cover(store.runs[run], Reason.DISCONNECT)
    store.commit(
        lambda desk: Change(events=(), control=replace(desk.control, cancels=cancels), result=None)
    )
    assert store.commit(lambda desk: starting.start_next(desk, store.moment())) is None
    assert (store.runs[run].status, store.runs[run].reason) == ("cancelled", "disconnect")
    assert store.start().run.id == other


def test_a_prompt_that_is_taken_back_leaves_the_run_and_no_message() -> None:
    store, runs = busy(2)
    store.commit(lambda desk: cancelling.withdraw(desk, runs[1], store.moment()))
    taken = store.runs[runs[1]]
    assert (taken.status, taken.reason, taken.input) == ("cancelled", "withdrawn", "prompt 1")
    assert not [m for m in store.messages.values() if m.run_id == runs[1]]
    assert (store.control.queue, store.session.queued) == ((runs[2],), 1)


def test_only_a_waiting_prompt_can_be_taken_back() -> None:
    store, runs = busy(0)
    with pytest.raises(SessionBusy):
        store.commit(lambda desk: cancelling.withdraw(desk, runs[0], store.moment()))
    store.settle(DONE)
    with pytest.raises(NotFound):
        store.commit(lambda desk: cancelling.withdraw(desk, runs[0], store.moment()))


def test_a_cancelled_compaction_that_waits_leaves_no_message() -> None:
    store = LittleStore()
    store.accept("", mode=Mode.COMPACT)
    store.cancel()
    assert store.messages == {}
    assert store.session.queued == 0
