"""A log for each rule that breaks it, and no other before it."""

from collections.abc import Callable

from tests.oracle.rule import Json, Rule
from tests.oracle.sample import SampleLog

Break = Callable[[SampleLog], None]


def last(sample: SampleLog, kind: str) -> Json:
    """The newest event of this kind, to be changed."""
    return next(event for event in reversed(sample.log) if event["type"] == kind)


def at_work(sample: SampleLog, **fields: str) -> None:
    """A run that has begun to answer."""
    sample.accept("a", **fields)
    sample.start("a")


def spoil(kind: str, **fields: object) -> Break:
    """One whole run, in which the newest event of this kind says something else."""

    def broken(sample: SampleLog) -> None:
        sample.whole("a")
        last(sample, kind).update(fields)

    return broken


def spoil_inside(kind: str, name: str, **fields: object) -> Break:
    """The same for the run, message or part that the event carries."""

    def broken(sample: SampleLog) -> None:
        sample.whole("a")
        last(sample, kind)[name].update(fields)

    return broken


def lose_a_field(sample: SampleLog) -> None:
    sample.whole("a")
    del sample.log[0]["at"]


def come_back(sample: SampleLog) -> None:
    sample.event("session.deleted")
    sample.event("session.updated", changes={"title": "back again"})


def start_unaccepted(sample: SampleLog) -> None:
    sample.runs["a"] = sample.run("a")
    sample.start("a")


def accept_twice(sample: SampleLog) -> None:
    sample.accept("a")
    sample.accept("a")


def reject_late(sample: SampleLog) -> None:
    at_work(sample)
    sample.accept("b", when_busy="reject")


def interrupt_beside_others(sample: SampleLog) -> None:
    sample.accept("a")
    sample.accept("b", when_busy="interrupt")


def change_what_runs(sample: SampleLog) -> None:
    at_work(sample)
    sample.event("run.updated", "a", run=sample.runs["a"])


def wait_for_another(sample: SampleLog) -> None:
    sample.accept("a")
    sample.event("session.updated", changes={"queue": ["b"]})


def two_at_once(sample: SampleLog) -> None:
    at_work(sample)
    sample.accept("b")
    sample.start("b")


def overtake(sample: SampleLog) -> None:
    sample.accept("a")
    sample.accept("b")
    sample.start("b")


def start_what_is_held(sample: SampleLog) -> None:
    sample.accept("a")
    sample.change("a", held=True)
    sample.event("run.updated", "a", run=sample.runs["a"])
    sample.start("a")


def end_twice(sample: SampleLog) -> None:
    sample.whole("a")
    sample.event("run.finished", "a", run=sample.runs["a"])


def fail_while_waiting(sample: SampleLog) -> None:
    sample.accept("a")
    sample.finish("a", "failed", "internal")


def leave_a_question(sample: SampleLog) -> None:
    at_work(sample)
    sample.ask("a", "pending")
    sample.finish("a", "cancelled", "user")


def leave_an_unanswered_question(sample: SampleLog) -> None:
    at_work(sample)
    sample.question("a", "pending")
    sample.finish("a", "interrupted", "server_crashed")


def ask_in_words_while_waiting(sample: SampleLog) -> None:
    sample.accept("a")
    sample.question("a", "pending")


def answer_in_words_twice(sample: SampleLog) -> None:
    at_work(sample)
    sample.question("a", "pending", "dismissed", "answered")


def allow_a_question(sample: SampleLog) -> None:
    at_work(sample)
    sample.question("a", "pending", "allowed")


def answer_half(sample: SampleLog) -> None:
    at_work(sample)
    sample.question("a", "pending", "answered", answers=[["Yes"], ["No"]])


def answer_by_nobody(sample: SampleLog) -> None:
    at_work(sample)
    sample.question("a", "pending", "answered")
    last(sample, "question.answered")["question"]["answered_by"] = None


def speak_while_compacting(sample: SampleLog) -> None:
    at_work(sample, mode="compact")
    sample.finish("a")


def answer_no_prompt(sample: SampleLog) -> None:
    sample.whole("a")
    del sample.log[2]
    renumber(sample)


def leave_the_answer_open(sample: SampleLog) -> None:
    at_work(sample)
    sample.end("a")


def answer_twice(sample: SampleLog) -> None:
    at_work(sample)
    sample.finish_message("a", "end_turn")
    again = {**last(sample, "message.started")["message"], "id": "again"}
    sample.event("message.started", "a", message=again)
    sample.event("message.finished", "a", message_id="again", finish_reason="end_turn")
    sample.end("a")


def speak_without_running(sample: SampleLog) -> None:
    sample.accept("a")
    for name in ("a", "b"):
        sample.runs[name] = sample.runs["a"]
        sample.messages(name)
        for event in sample.log[-2:]:
            event["run_id"] = event["message"]["run_id"] = "a"
        sample.event("message.finished", "a", message_id=f"{name}_a", finish_reason="steered")
    sample.log[-1]["finish_reason"] = "cancelled"
    sample.end("a", "cancelled", "user")


def write_while_waiting(sample: SampleLog) -> None:
    sample.accept("a")
    sample.messages("a")
    sample.say("a", "too early")


def belong_to_nobody(sample: SampleLog) -> None:
    sample.whole("a")
    sample.runs["b"] = sample.run("b")
    sample.messages("b")
    for event in sample.log[-2:]:
        event["run_id"] = event["message"]["run_id"] = None


def start_a_message_twice(sample: SampleLog) -> None:
    at_work(sample)
    sample.messages("a")


def grow_after_the_finish(sample: SampleLog) -> None:
    at_work(sample)
    sample.finish_message("a")
    sample.say("a", "late")


def start_a_part_twice(sample: SampleLog) -> None:
    at_work(sample)
    sample.say("a", "once")
    sample.say("a", "twice")


def change_no_part(sample: SampleLog) -> None:
    at_work(sample)
    sample.call("a", "running")
    last(sample, "part.updated")["part"]["id"] = "other"


def stream_after_the_start(sample: SampleLog) -> None:
    at_work(sample)
    sample.call("a", "running")
    more = {"message_id": "a_a", "part_id": "a_call", "offset": 2, "text": "more"}
    sample.event("part.delta", "a", **more)


def print_after_the_end(sample: SampleLog) -> None:
    at_work(sample)
    sample.call("a", "running", "done")
    sample.print("a", "late")


def print_into_an_answer(sample: SampleLog) -> None:
    at_work(sample)
    sample.say("a", "once")
    last(sample, "part.delta")["field"] = "output"


def repeat_an_output(sample: SampleLog) -> None:
    at_work(sample)
    sample.call("a", "running")
    sample.print("a", "one\n", "two\n")
    part = {**last(sample, "part.updated")["part"], "output": "one\ntwo\n", "state": "done"}
    sample.event("part.updated", "a", message_id="a_a", part=part)


def rename_a_call(sample: SampleLog) -> None:
    at_work(sample)
    sample.call("a", "running")
    last(sample, "part.updated")["part"]["name"] = "other"


def end_a_call_twice(sample: SampleLog) -> None:
    at_work(sample)
    sample.call("a", "running", "done", "cancelled")


def skip_a_state(sample: SampleLog) -> None:
    at_work(sample)
    sample.call("a", "done")


def finish_twice(sample: SampleLog) -> None:
    at_work(sample)
    sample.finish_message("a")
    sample.finish_message("a")


def leave_a_call_open(sample: SampleLog) -> None:
    at_work(sample)
    sample.call("a", "running")
    sample.finish("a")


def remove_the_middle(sample: SampleLog) -> None:
    sample.whole("a")
    sample.event("session.rewound", removed=["a_u"])


def rewind_at_work(sample: SampleLog) -> None:
    at_work(sample)
    sample.event("session.rewound", removed=["a_u", "a_a"])


def ask_while_waiting(sample: SampleLog) -> None:
    sample.accept("a")
    sample.ask("a", "pending")


def answer_a_question_twice(sample: SampleLog) -> None:
    at_work(sample)
    sample.ask("a", "pending", "allowed", "denied")


def name_over_the_user(sample: SampleLog) -> None:
    for source in ("user", "auto"):
        sample.event("session.updated", changes={"title": source, "title_source": source})


def compact_what_is_not_there(sample: SampleLog) -> None:
    at_work(sample)
    sample.event("session.compacted", "a", through_message_id="other", summary="short")


def delete_at_work(sample: SampleLog) -> None:
    at_work(sample)
    sample.event("session.deleted")


def renumber(sample: SampleLog) -> None:
    for seq, event in enumerate(sample.log, 1):
        event["seq"] = seq


BROKEN: list[tuple[Rule, Break]] = [
    (Rule.KNOWN, lambda sample: sample.event("session.sang")),
    (Rule.COMMON, lose_a_field),
    (Rule.NO_GAP, spoil("run.finished", seq=77)),
    (Rule.OWN_LOG, spoil("run.started", session_id="ses_2")),
    (Rule.LAST, come_back),
    (Rule.ACCEPTED_FIRST, start_unaccepted),
    (Rule.ACCEPTED_ONCE, accept_twice),
    (Rule.ACCEPTED_ONCE, lambda sample: sample.accept("a", status="running")),
    (Rule.OWN_RUN, spoil_inside("run.started", "run", id="b")),
    (Rule.NUMBERED, lambda sample: sample.accept("a", accept_number=2)),
    (Rule.REJECTED, reject_late),
    (Rule.REPLACED, interrupt_beside_others),
    (Rule.GOES_ON, lambda sample: sample.accept("a", continues="b")),
    (Rule.WAITING, change_what_runs),
    (Rule.SAME_QUEUE, wait_for_another),
    (Rule.ONE_ACTIVE, two_at_once),
    (Rule.IN_ORDER, overtake),
    (Rule.IN_ORDER, start_what_is_held),
    (Rule.STARTED, spoil_inside("run.started", "run", started_at=None)),
    (Rule.ENDED_LAST, end_twice),
    (Rule.ENDING, spoil_inside("run.finished", "run", reason="user")),
    (Rule.ENDING, spoil_inside("run.finished", "run", status="lost")),
    (Rule.ERROR, spoil_inside("run.finished", "run", error={"code": "internal"})),
    (Rule.ENDED_AT, spoil_inside("run.finished", "run", finished_at=None)),
    (Rule.TAKEN, fail_while_waiting),
    (Rule.NO_QUESTION_LEFT, leave_a_question),
    (Rule.NO_QUESTION_LEFT, leave_an_unanswered_question),
    (Rule.NO_MESSAGE, speak_while_compacting),
    (Rule.PROMPT_FIRST, answer_no_prompt),
    (Rule.ANSWERED, leave_the_answer_open),
    (Rule.ENDS_ALIKE, spoil("message.finished", finish_reason="cancelled")),
    (Rule.ONE_ANSWER, answer_twice),
    (Rule.NEVER_RAN, speak_without_running),
    (Rule.AT_WORK, write_while_waiting),
    (Rule.OF_NO_RUN, belong_to_nobody),
    (Rule.STARTS_ONCE, start_a_message_twice),
    (Rule.BELONGS, spoil_inside("message.started", "message", session_id="ses_2")),
    (Rule.COMES_WHOLE, spoil_inside("message.started", "message", role="user")),
    (Rule.STARTS_EMPTY, spoil_inside("message.started", "message", finish_reason="end_turn")),
    (Rule.OPEN, grow_after_the_finish),
    (Rule.PART_ONCE, start_a_part_twice),
    (Rule.PART_FIRST, spoil("part.delta", part_id="other")),
    (Rule.PART_FIRST, change_no_part),
    (Rule.OFFSET, spoil("part.delta", offset=4)),
    (Rule.OFFSET, spoil("part.delta", text="")),
    (Rule.INPUT_FIRST, stream_after_the_start),
    (Rule.FIELD, print_into_an_answer),
    (Rule.OUTPUT_WHILE_RUNNING, print_after_the_end),
    (Rule.SAID_ONCE, repeat_an_output),
    (Rule.ONLY_CALLS, rename_a_call),
    (Rule.CALL_STATES, end_a_call_twice),
    (Rule.CALL_STATES, skip_a_state),
    (Rule.FINISHED_ONCE, finish_twice),
    (Rule.NO_OPEN_CALL, leave_a_call_open),
    (Rule.REWOUND, remove_the_middle),
    (Rule.REWOUND_IDLE, rewind_at_work),
    (Rule.ASKED, ask_while_waiting),
    (Rule.ANSWERED_ONCE, answer_a_question_twice),
    (Rule.ASKED, ask_in_words_while_waiting),
    (Rule.ANSWERED_ONCE, answer_in_words_twice),
    (Rule.ANSWERED_ONCE, allow_a_question),
    (Rule.ANSWERS_FIT, answer_half),
    (Rule.ANSWERS_FIT, answer_by_nobody),
    (Rule.NAMED, name_over_the_user),
    (Rule.COMPACTED, compact_what_is_not_there),
    (Rule.DELETED_IDLE, delete_at_work),
]
