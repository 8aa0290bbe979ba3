"""Ways to spoil a good history, each with the rule that must refuse it."""

import copy
from collections.abc import Callable
from typing import Any

from tests.oracle.rule import Rule
from tests.proof.history import cause, claim, evidence, order, session_history
from tests.proof.history.record import Answer, Misfortune, Opened, Request, Seen
from tests.proof.history.sample import PATH, SampleHistory, crash, seen

Spoil = Callable[[SampleHistory], None]
CANCEL = f"{PATH}/cancel"


def told() -> SampleHistory:
    """One answered prompt, one that is stopped midway with one that waits, one after a crash."""
    sample = SampleHistory()
    sample.prompt("run_1")
    sample.start("run_1")
    sample.say("run_1", "Hel", "lo")
    sample.finish("run_1")
    sample.prompt("run_2")
    sample.start("run_2")
    sample.prompt("run_3")
    sent = sample.tick()
    sample.finish("run_3", "cancelled", "user")
    sample.finish("run_2", "cancelled", "user")
    body = {"cancelled": ["run_2", "run_3"], "head": len(sample.log), "settled": True}
    sample.entries += [
        Request(id="stop", client="other", method="POST", path=CANCEL, sent_at=sent),
        Answer(id="stop", at=sample.tick(), status=200, body=body),
    ]
    sample.prompt("run_4")
    sample.start("run_4")
    crash(sample)
    sample.finish("run_4", "interrupted", "server_crashed")
    return sample


def watched(sample: SampleHistory) -> SampleHistory:
    sample.watch("first")
    sample.watch("second", after=4)
    return sample


def rewound(sample: SampleHistory, *, sent: float | None = None) -> None:
    removed = ["run_4_u", "run_4_a"]
    sent = sample.tick() if sent is None else sent
    sample.event("session.rewound", removed=removed)
    answer = {"removed": removed, "head": len(sample.log)}
    sample.entries += [
        Request(id="undo", client="other", method="POST", path=f"{PATH}/undo", sent_at=sent),
        Answer(id="undo", at=sample.tick(), status=200, body=answer),
    ]


def frames(sample: SampleHistory, connection: str) -> list[int]:
    return [
        n
        for n, entry in enumerate(sample.entries)
        if isinstance(entry, Seen) and entry.connection == connection
    ]


# What is done to the log before anyone sees it.


def swap_starts(sample: SampleHistory) -> None:
    """The fourth run is accepted first, and starts last."""
    sample.prompt("run_5")
    sample.prompt("run_6")
    sample.start("run_6")
    sample.finish("run_6")
    sample.start("run_5")
    sample.finish("run_5")


def lose_an_ending(sample: SampleHistory) -> None:
    sample.prompt("run_5")


def forget_a_prompt(sample: SampleHistory) -> None:
    sample.prompt("run_5")
    del sample.log[-1], sample.times[-1]


def change_a_prompt(sample: SampleHistory) -> None:
    sample.log[0]["run"]["input"] = "something else"


def outlive_a_cancel(sample: SampleHistory) -> None:
    """The answer says that all had ended one event before the last of it."""
    stop = next(e for e in sample.entries if isinstance(e, Answer) and e.id == "stop")
    stop.body["head"] -= 1


def forget_one_in_a_cancel(sample: SampleHistory) -> None:
    """A run that was accepted before the cancel goes on after it."""
    sample.prompt("run_5")
    answer = {"cancelled": [], "head": len(sample.log), "settled": True}
    sample.call_server("POST", CANCEL, status=200, answer=answer)
    sample.start("run_5")
    sample.finish("run_5")


def cancel_what_was_never_stopped(sample: SampleHistory) -> None:
    """The only cancel was answered before this run was sent."""
    sample.prompt("run_5")
    sample.start("run_5")
    sample.finish("run_5", "cancelled", "user")


def crash_without_a_crash(sample: SampleHistory) -> None:
    sample.entries = [entry for entry in sample.entries if not isinstance(entry, Misfortune)]


def run_what_nobody_asked(sample: SampleHistory) -> None:
    sample.prompt("run_5")
    del sample.entries[-2:]
    sample.start("run_5")
    sample.finish("run_5")


def run_twice_for_one_key(sample: SampleHistory) -> None:
    sample.prompt("run_5", input="again")
    sample.prompt("run_6", input="again")
    for run_id in ("run_5", "run_6"):
        sample.start(run_id)
        sample.finish(run_id)
    for entry in sample.entries:
        if isinstance(entry, Request) and entry.key in ("key run_5", "key run_6"):
            entry.key = "one key"


def change_an_ending(sample: SampleHistory) -> None:
    ended = {**sample.runs["run_1"], "reason": "max_tokens"}
    sample.call_server("GET", "/api/runs/run_1", status=200, answer=ended)


def forget_an_ending(sample: SampleHistory) -> None:
    before = {**sample.runs["run_1"], "status": "running", "reason": None, "finished_at": None}
    sample.call_server("GET", "/api/runs/run_1", status=200, answer=before)


def fail_inside(sample: SampleHistory) -> None:
    sample.call_server("GET", PATH, status=500, answer={"code": "internal"})


def lose_a_session(sample: SampleHistory) -> None:
    sample.call_server("GET", PATH, status=404, answer={"code": "not_found"})


def read_something_else(sample: SampleHistory) -> None:
    answer = {"messages": [], "head": len(sample.log)}
    sample.call_server("GET", f"{PATH}/messages", status=200, answer=answer)


def read_an_old_state(sample: SampleHistory) -> None:
    sample.call_server("GET", PATH, status=200, answer={"head": 3})


def lose_a_change(sample: SampleHistory) -> None:
    title = {"title": "mine"}
    sample.call_server("PATCH", PATH, title, status=200, answer={"head": len(sample.log)})


def put_a_change_before_what_was_seen(sample: SampleHistory) -> None:
    """The rename was sent last, and stands first."""
    sample.event("session.updated", changes={"title": "mine"})
    sample.call_server(
        "PATCH", PATH, {"title": "mine"}, status=200, answer={"head": len(sample.log)}
    )


def see_the_future(sample: SampleHistory) -> None:
    sample.times[0] = 0.5


def hide_a_place(sample: SampleHistory) -> None:
    answer = {"head": len(sample.log) + 1}
    sample.call_server("GET", PATH, status=200, answer=answer)


def fail_for_the_store(sample: SampleHistory) -> None:
    sample.prompt("run_5")
    sample.start("run_5")
    sample.finish("run_5", "failed", "storage")


def settle_too_late(sample: SampleHistory) -> None:
    sample.times[-1] += 20.0


def pause_where_nothing_may_be_lost(sample: SampleHistory) -> None:
    for evil in sample.entries:
        if isinstance(evil, Misfortune):
            evil.action = "pause"


def be_away_for_nothing(sample: SampleHistory) -> None:
    sample.entries += [
        Request(id="away", client="other", method="GET", path=PATH, sent_at=sample.tick()),
        Answer(id="away", at=sample.tick(), lost="503 storage_unavailable"),
    ]


SPOILT_LOGS: list[tuple[Spoil, str]] = [
    (swap_starts, Rule.IN_ORDER),
    (lose_an_ending, claim.ANSWERED),
    (forget_a_prompt, claim.ANSWERED),
    (change_a_prompt, claim.ANSWERED),
    (outlive_a_cancel, claim.STOPPED),
    (forget_one_in_a_cancel, claim.COVERED),
    (cancel_what_was_never_stopped, claim.CAUSE),
    (crash_without_a_crash, claim.CAUSE),
    (pause_where_nothing_may_be_lost, claim.CAUSE),
    (fail_for_the_store, cause.LOST),
    (settle_too_late, cause.SETTLED),
    (be_away_for_nothing, cause.AWAY),
    (run_what_nobody_asked, claim.ASKED),
    (run_twice_for_one_key, claim.SAME),
    (run_twice_for_one_key, claim.ASKED),
    (change_an_ending, claim.ENDING),
    (forget_an_ending, claim.ENDING),
    (fail_inside, claim.FAULT),
    (lose_a_session, claim.THERE),
    (read_something_else, session_history.RELOAD),
    (read_an_old_state, order.FRESH),
    (lose_a_change, order.KEPT),
    (put_a_change_before_what_was_seen, order.AFTER),
    (see_the_future, order.FUTURE),
    (hide_a_place, session_history.WHOLE),
]


# What is done to one reader's stream.


def skip_one(sample: SampleHistory) -> None:
    del sample.entries[frames(sample, "second")[3]]


def repeat_one(sample: SampleHistory) -> None:
    n = frames(sample, "second")[3]
    sample.entries.insert(n, sample.entries[n])


def begin_too_late(sample: SampleHistory) -> None:
    del sample.entries[frames(sample, "second")[0]]


def see_something_else(sample: SampleHistory) -> None:
    event = copy.deepcopy(sample.log[8])
    event["run_id"] = "run_9"
    sample.entries[frames(sample, "second")[4]] = seen("second", event, 99.0)


def number_wrongly(sample: SampleHistory) -> None:
    for reader, n in (("first", 8), ("second", 4)):
        event = {**sample.log[8], "seq": 77}
        frame = seen(reader, event, 99.0)
        frame.seq = 9
        sample.entries[frames(sample, reader)[n]] = frame


def lose_the_cursor(sample: SampleHistory) -> None:
    snapshot: dict[str, Any] = {"type": "snapshot", "seq": 2, "session_id": "ses_1"}
    frame = seen("second", {**snapshot, "messages": [], "runs": []}, 99.0)
    sample.entries[frames(sample, "second")[0]] = frame


def leave_out_of_a_run(sample: SampleHistory) -> None:
    opened = Opened(connection="run", client="c", stream="/api/runs/run_1/events", sent_at=0.0)
    shown = [seen("run", sample.log[n], 99.0) for n in (0, 1, 3)]
    sample.entries += [opened, *shown]


SPOILT_STREAMS: list[tuple[Spoil, str]] = [
    (skip_one, evidence.NO_GAP),
    (repeat_one, evidence.NO_GAP),
    (begin_too_late, evidence.NO_GAP),
    (see_something_else, evidence.ONE_LOG),
    (number_wrongly, evidence.SHAPE),
    (lose_the_cursor, evidence.NO_GAP),
    (leave_out_of_a_run, session_history.OF_A_RUN),
]
