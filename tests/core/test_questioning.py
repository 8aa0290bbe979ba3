"""Asking a person in words: one life with asking for permission."""

import pytest
from msgspec.structs import replace

from tenuto.core import cancelling, consent, editing, parking, questioning
from tenuto.core.approval import Decision, Word
from tenuto.core.editing import QueueEdit
from tenuto.core.error import AlreadyAnswered, InvalidInput
from tenuto.core.message import ToolPart
from tenuto.core.question import Answers, Option, Question, QuestionWord
from tenuto.core.run import Reason, Usage, WhenBusy
from tenuto.core.session import Parking, Pause
from tenuto.core.value import QuestionId
from tests.core.little_store import LittleStore, ending


def working() -> LittleStore:
    store = LittleStore()
    store.accept()
    store.start()
    return store


def answer(store: LittleStore, question_id: QuestionId, answers: Answers | None) -> Question:
    said = QuestionWord(dismiss=True) if answers is None else QuestionWord(answers=answers)
    return store.commit(lambda desk: questioning.answer(desk, question_id, said, store.moment()))


def steered(store: LittleStore, text: str = "Rather blue") -> None:
    store.accept(text, when_busy=WhenBusy.STEER)


def test_a_question_is_asked_and_the_call_waits() -> None:
    store = working()
    question = store.questions[store.ask_in_words(store.call("ask_user"), "Red?", "Blue?")]
    assert (question.state, question.answers, question.answered_by) == ("pending", (), None)
    message = store.open_message()
    assert message is not None
    (part,) = message.parts
    assert isinstance(part, ToolPart) and part.state == "waiting_approval"
    assert (store.session.state, store.session.waiting_questions) == ("waiting", 1)
    store.fold()


@pytest.mark.parametrize("answers", [(("Red",),), None])
def test_the_first_answer_wins(answers: Answers | None) -> None:
    store = working()
    question_id = store.ask_in_words(store.call())
    given = answer(store, question_id, answers)
    assert given.state == ("dismissed" if answers is None else "answered")
    assert (given.answers, given.answered_by) == (answers or (), "user")
    assert (store.session.state, store.session.waiting_questions) == ("running", 0)
    for second in ((("Blue",),), None):
        with pytest.raises(AlreadyAnswered):
            answer(store, question_id, second)
    assert store.questions[question_id] == given
    store.fold()


@pytest.mark.parametrize(
    "answers",
    [
        (),
        ((), ()),
        (("Red",),),
        (("Red",), ("Blue",), ("Green",)),
        (("Red", "Blue"), ()),
        (("  ",), ("Blue",)),
    ],
)
def test_what_is_no_answer_is_refused_and_the_question_stays(answers: Answers) -> None:
    store = working()
    question_id = store.ask_in_words(store.call(), "This?", "That?")
    with pytest.raises(InvalidInput):
        answer(store, question_id, answers)
    with pytest.raises(InvalidInput):
        both = QuestionWord(answers=(("Red",), ("Blue",)), dismiss=True)
        store.commit(lambda desk: questioning.answer(desk, question_id, both, store.moment()))
    with pytest.raises(InvalidInput):
        store.commit(
            lambda desk: questioning.answer(desk, question_id, QuestionWord(), store.moment())
        )
    assert store.questions[question_id].state == "pending"
    assert answer(store, question_id, (("Red",), ())).answers == (("Red",), ())


def test_several_are_chosen_where_several_may_be_and_none_twice() -> None:
    store = working()
    options = (Option(label="Red"), Option(label="Blue"))
    question_id = store.ask_in_words(store.call(), "Which?", options=options, multiple=True)
    with pytest.raises(InvalidInput):
        answer(store, question_id, (("Red", "Red"),))
    given = answer(store, question_id, (("Blue", "Red", "and my own"),))
    assert given.answers == (("Blue", "Red", "and my own"),)


def test_a_steer_while_it_waits_is_the_answer_to_all_that_is_asked() -> None:
    store = working()
    first = store.ask_in_words(store.call(), "This?", "That?")
    second = store.ask_in_words(store.call())
    approval = store.ask(store.call("shell"))
    steered(store)
    assert store.questions[first].answers == (("Rather blue",), ())
    for question in store.questions.values():
        assert (question.state, question.answered_by) == ("answered", "steer")
    # Nobody has allowed anything by it.
    assert store.approvals[approval].state == "pending"
    with pytest.raises(AlreadyAnswered):
        answer(store, second, (("Red",),))
    store.fold()


def test_a_steer_that_waits_already_answers_what_is_asked_then() -> None:
    store = working()
    steered(store)
    question = store.questions[store.ask_in_words(store.call())]
    assert (question.state, question.answers) == ("answered", (("Rather blue",),))
    store.fold()


def test_other_prompts_answer_nothing() -> None:
    store = working()
    question_id = store.ask_in_words(store.call())
    waiting = store.accept("Later")
    assert store.questions[question_id].state == "pending"
    edit = QueueEdit(steer=True, held=True)
    store.commit(lambda desk: editing.change_queued(desk, waiting, edit, store.moment()))
    assert store.questions[question_id].state == "pending"
    store.commit(lambda desk: cancelling.release(desk, store.moment()))
    assert store.questions[question_id].answers == (("Later",),)


def test_a_waiting_prompt_that_is_sent_now_is_the_answer() -> None:
    store = working()
    question_id = store.ask_in_words(store.call())
    waiting = store.accept("Now")
    edit = QueueEdit(steer=True)
    store.commit(lambda desk: editing.change_queued(desk, waiting, edit, store.moment()))
    assert store.questions[question_id].answers == (("Now",),)


def test_a_steer_does_not_answer_for_a_run_that_is_being_stopped() -> None:
    store = working()
    question_id = store.ask_in_words(store.call())
    store.cancel()
    steered(store)
    assert store.questions[question_id].state == "pending"
    store.settle(ending("completed", "end_turn"))
    assert store.questions[question_id].state == "cancelled"


@pytest.mark.parametrize(
    ("status", "reason"),
    [("cancelled", "user"), ("failed", "provider_error"), ("interrupted", "server_crashed")],
)
def test_a_question_ends_with_its_run(status: str, reason: str) -> None:
    store = working()
    question_id = store.ask_in_words(store.call())
    if status == "cancelled":
        store.commit(lambda desk: cancelling.cancel_session(desk, Reason.USER, store.moment()))
    store.settle(ending(status, reason))
    left = store.questions[question_id]
    assert (left.state, left.answers, left.answered_by) == ("cancelled", (), "run")
    with pytest.raises(AlreadyAnswered):
        answer(store, question_id, (("Red",),))
    assert store.session.state == "idle"
    store.fold()


def parked(store: LittleStore) -> None:
    """Whoever worked on the run is gone."""
    pause = Pause(step=1, usage=Usage(), seconds=9.0)
    store.control = replace(store.control, pause=pause)
    message, fence = store.open_message(), store.fence()
    assert store.commit(lambda desk: parking.park(desk, fence, message))


@pytest.mark.guarantee("E2")
def test_a_run_that_only_waits_for_people_is_parked_until_one_answers() -> None:
    store = working()
    question_id = store.ask_in_words(store.call("ask_user"))
    approval_id = store.ask(store.call("shell"))
    parked(store)
    assert (store.control.parked, store.session.state) == (Parking.WAITING, "waiting")
    answer(store, question_id, (("Red",),))
    assert store.control.parked is Parking.DUE
    assert store.start().pause is not None
    assert store.session.state == "waiting"
    parked(store)
    # One call was answered and not gone on with: somebody must.
    assert store.control.parked is Parking.DUE
    word = Word(decision=Decision.DENY)
    store.commit(lambda desk: consent.answer(desk, approval_id, word, store.moment()))
    assert store.control.parked is Parking.DUE


@pytest.mark.parametrize("how", ["answer", "dismiss", "steer"])
def test_whatever_answers_it_a_parked_run_is_due(how: str) -> None:
    store = working()
    question_id = store.ask_in_words(store.call("ask_user"))
    parked(store)
    if how == "steer":
        steered(store)
    else:
        answer(store, question_id, (("Red",),) if how == "answer" else None)
    assert store.control.parked is Parking.DUE
