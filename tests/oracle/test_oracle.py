"""The oracle accepts good logs, folds them, and refuses each kind of bad one by its rule."""

import copy
from collections.abc import Callable

import pytest

from tests.oracle.broken import BROKEN, Break
from tests.oracle.broken_files import BROKEN_FILES
from tests.oracle.broken_jobs import BROKEN_JOBS
from tests.oracle.fold import Fold, fold
from tests.oracle.rule import Rule, RuleBroken
from tests.oracle.sample import SESSION, SampleLog
from tests.oracle.session_log import SessionLog, check_idle_log, check_log

ALL_BROKEN = [*BROKEN, *BROKEN_FILES, *BROKEN_JOBS]


def steered() -> SampleLog:
    """A run that takes another's prompt, and one that waits in vain."""
    sample = SampleLog()
    sample.accept("a")
    sample.start("a")
    sample.say("a", "One. ")
    sample.accept("b", when_busy="steer")
    sample.finish_message("a", "steered")
    prompt = {**sample.log[2]["message"], "id": "a_u2"}
    answer = {**sample.log[3]["message"], "id": "a_a2"}
    sample.event("message.started", "a", message=prompt)
    sample.change("b", steered_into="a")
    sample.end("b")
    sample.event("message.started", "a", message=answer)
    sample.accept("c")
    sample.finish("c", "cancelled", "user")
    sample.accept("d")
    sample.end("d", "cancelled", "withdrawn")
    sample.event("message.finished", "a", message_id="a_a2", finish_reason="end_turn")
    sample.end("a")
    return sample


def asked() -> SampleLog:
    """A call that a person allows, and a run that is cut off and goes on in another."""
    sample = SampleLog()
    sample.accept("a")
    sample.start("a")
    sample.call("a", "waiting_approval")
    sample.ask("a", "pending", "allowed")
    sample.question("a", "pending", "answered")
    part = next(e["part"] for e in reversed(sample.log) if e["type"] == "part.updated")
    for state in ("running", "running", "interrupted"):
        sample.event("part.updated", "a", message_id="a_a", part={**part, "state": state})
    sample.finish("a", "interrupted", "server_crashed")
    sample.accept("b", continues="a")
    sample.start("b")
    del sample.log[-2]
    sample.log[-1]["seq"] -= 1
    sample.finish("b")
    sample.event("session.rewound", removed=["a_u", "a_a", "b_a"])
    sample.event("session.deleted")
    return sample


def changed() -> SampleLog:
    """A run that changes a file twice, a person who takes it back and puts it there again."""
    sample = SampleLog()
    sample.accept("a")
    sample.start("a")
    for _ in range(2):
        sample.change_file("a", "changing", by="a")
        sample.change_file("a", "changed", by="a")
    sample.change_file("a", "changed", by="a", id="a:g", path="g", tool="shell")
    sample.finish("a")
    sample.change_file("a", "changing")
    sample.change_file("a", "changed", state="reverted")
    sample.change_file("a", "changed", state="conflict")
    return sample


Tell = Callable[[], SampleLog]


@pytest.mark.parametrize("tell", [steered, asked, changed])
def test_a_good_log_is_accepted_from_its_first_event_to_its_last(tell: Tell) -> None:
    log = tell().log
    for length in range(len(log)):
        check_log(log[:length])
    check_idle_log(log)


@pytest.mark.parametrize(("rule", "spoil"), ALL_BROKEN)
def test_a_log_that_breaks_a_rule_is_refused_by_it(rule: Rule, spoil: Break) -> None:
    sample = SampleLog()
    spoil(sample)
    with pytest.raises(RuleBroken) as refused:
        check_log(sample.log)
    assert refused.value.rule is rule


@pytest.mark.parametrize(("rule", "spoil"), ALL_BROKEN)
def test_whoever_writes_down_what_is_wrong_can_read_on(rule: Rule, spoil: Break) -> None:
    sample = SampleLog()
    spoil(sample)
    found: list[Rule] = []
    log = SessionLog(SESSION, lambda rule, *seen: found.append(rule))
    for event in sample.log:
        log.apply(event)
    assert found[0] is rule


def test_every_rule_has_a_log_that_breaks_it() -> None:
    assert {rule for rule, _ in ALL_BROKEN} == set(Rule)


@pytest.mark.parametrize("length", [1, 2, 4, 6, 7])
def test_a_log_without_its_endings_is_not_idle(length: int) -> None:
    sample = SampleLog()
    sample.whole("a")
    check_log(sample.log[:length])
    with pytest.raises(AssertionError):
        check_idle_log(sample.log[:length])


def test_a_log_folds_to_its_messages_and_is_left_as_it_was() -> None:
    sample = SampleLog()
    sample.accept("a", input="Play!")
    sample.start("a")
    sample.say("a", "🎻 ", "play")
    sample.finish("a")
    before = copy.deepcopy(sample.log)
    user, answer = fold(sample.log).messages
    assert (user["role"], user["parts"][0]["text"]) == ("user", "Play!")
    assert (answer["parts"][0]["text"], answer["finish_reason"]) == ("🎻 play", "end_turn")
    assert sample.log == before


def test_a_fold_can_begin_at_a_snapshot_and_leaves_it_as_it_was() -> None:
    log = asked().log
    place = next(n for n, event in enumerate(log) if event["type"] == "approval.resolved")
    first = fold(log[:place])
    runs, approvals = list(first.runs.values()), list(first.approvals.values())
    data = {"messages": first.messages, "runs": runs, "approvals": approvals, "session": {}}
    snapshot = copy.deepcopy(data)
    later = Fold()
    later.snapshot(snapshot)
    assert list(later.pending) == ["a_q"]
    for event in log[place:-2]:
        later.apply(event)
    whole = fold(log[:-2])
    assert (later.messages, later.runs, later.pending) == (whole.messages, whole.runs, {})
    assert snapshot == data


def test_what_a_vote_reveals_is_added_to_the_runs() -> None:
    sample = SampleLog()
    sample.whole("a", model=None)
    changes = {"model": "openai/x", "runs": {"a": {"model": "openai/x"}}}
    sample.event("session.updated", changes=changes)
    log = check_idle_log(sample.log)
    assert log.runs["a"] == {**sample.runs["a"], "model": "openai/x"}
    assert log.session == {"model": "openai/x"}
