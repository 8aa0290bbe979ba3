"""Accepting a prompt: its place in the order, and what happens when the session is busy."""

import pytest

from tenuto.core.error import QueueFull, SessionBusy
from tenuto.core.event import RunAccepted, RunFinished, SessionUpdated
from tenuto.core.run import InputFile, InputText, Mode, WhenBusy
from tenuto.core.title import provisional_title
from tenuto.core.value import FileId, MessageId
from tests.core.little_store import LittleStore, ending


def test_an_accepted_prompt_waits_with_all_that_was_asked() -> None:
    store = LittleStore()
    run = store.runs[store.accept("What is new?", mode=Mode.CHAT)]
    assert (run.status, run.input, run.mode, run.accept_number) == (
        "queued",
        "What is new?",
        "chat",
        1,
    )
    assert (run.started_at, run.finished_at, run.reason) == (None, None, None)
    assert (store.session.state, store.session.queued, store.control.queue) == (
        "idle",
        1,
        (run.id,),
    )


def test_prompts_are_numbered_in_the_order_of_their_acceptance() -> None:
    store = LittleStore()
    runs = [store.accept() for _ in range(3)]
    assert [store.runs[run].accept_number for run in runs] == [1, 2, 3]
    assert store.control.queue == tuple(runs)


@pytest.mark.parametrize("when_busy", list(WhenBusy))
def test_an_idle_session_takes_every_prompt(when_busy: WhenBusy) -> None:
    store = LittleStore()
    run = store.accept(when_busy=when_busy)
    assert store.start().run.id == run


@pytest.mark.parametrize("when_busy", [WhenBusy.QUEUE, WhenBusy.STEER])
def test_a_busy_session_lets_a_prompt_wait(when_busy: WhenBusy) -> None:
    store = LittleStore()
    store.accept()
    first = store.start().run.id
    second = store.accept(when_busy=when_busy)
    assert (store.session.active_run, store.control.queue) == (first, (second,))


@pytest.mark.parametrize("started", [True, False])
def test_a_busy_session_rejects_a_prompt_that_does_not_want_to_wait(started: bool) -> None:
    store = LittleStore()
    store.accept()
    if started:
        store.start()
    with pytest.raises(SessionBusy):
        store.accept(when_busy=WhenBusy.REJECT)
    assert len(store.events(RunAccepted)) == 1


def test_an_interrupting_prompt_replaces_what_runs_and_what_waits() -> None:
    store = LittleStore()
    active, waiting = store.accept("one"), store.accept("two")
    store.start()
    last = store.accept("three", when_busy=WhenBusy.INTERRUPT)
    assert (store.runs[waiting].status, store.runs[waiting].reason) == ("cancelled", "replaced")
    ended = store.settle(ending("completed", "end_turn"))
    assert (ended.id, ended.status, ended.reason) == (active, "cancelled", "replaced")
    assert store.start().run.id == last
    assert store.settle(ending("completed", "end_turn")).status == "completed"


def test_the_queue_holds_a_hundred_and_not_one_more() -> None:
    store = LittleStore()
    store.accept()
    store.start()
    for _ in range(100):
        store.accept()
    with pytest.raises(QueueFull):
        store.accept()
    with pytest.raises(QueueFull):
        store.accept(when_busy=WhenBusy.STEER)
    assert store.session.queued == 100


def test_an_interrupting_prompt_finds_room_in_a_full_queue() -> None:
    store = LittleStore()
    for _ in range(100):
        store.accept()
    last = store.accept(when_busy=WhenBusy.INTERRUPT)
    assert store.control.queue == (last,)
    assert len(store.events(RunFinished)) == 100


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("Hello", "Hello"),
        ("  What \n is\tthis?  ", "What is this?"),
        ("", ""),
        ("a" * 60, "a" * 60),
        ("a" * 61, "a" * 60 + "…"),
        ("word " * 20, ("word " * 12).strip() + "…"),
        ("一" * 100, "一" * 60 + "…"),
    ],
)
def test_a_provisional_title_is_the_first_words(prompt: str, title: str) -> None:
    assert provisional_title(prompt) == title


def test_a_provisional_title_is_made_of_the_words_beside_a_file() -> None:
    file = InputFile(file_id=FileId("fil_1"), name="a.txt")
    assert provisional_title([file, InputText(text="Read"), InputText(text="this")]) == "Read this"


def test_the_first_prompt_names_a_session_until_something_better_comes() -> None:
    store = LittleStore()
    store.accept("How do tides work?")
    store.accept("And on the moon?")
    assert (store.session.title, store.session.title_source) == (
        "How do tides work?",
        "provisional",
    )
    assert len(store.events(SessionUpdated)) == 1


@pytest.mark.guarantee("H8")
def test_a_prompt_never_renames_a_session_that_its_user_named() -> None:
    for title in ("Mine", ""):
        store = LittleStore(title=title, title_source="user")
        store.accept("How do tides work?")
        assert store.session.title == title


def test_the_messages_of_a_run_have_ids_of_their_own_making() -> None:
    store = LittleStore()
    store.accept()
    started = store.start()
    assert started.message is not None
    assert started.message.id == MessageId("msg_001_a")
    assert list(store.messages) == ["msg_001_u", "msg_001_a"]
