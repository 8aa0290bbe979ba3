"""Ways to spoil a good history, each with the rule that must refuse it."""

import copy
from collections.abc import Callable
from typing import Any

from tests.oracle.rule import Rule
from tests.proof.history import biography, claim, evidence, order
from tests.proof.history.record import Answer, Misfortune, Opened, Request, Seen
from tests.proof.history.tale import PATH, Tale, crash, seen

Spoil = Callable[[Tale], None]
CANCEL = f"{PATH}/cancel"


def told() -> Tale:
    """One answered prompt, one that is stopped midway with one that waits, one after a crash."""
    tale = Tale()
    tale.prompt("run_1")
    tale.start("run_1")
    tale.say("run_1", "Hel", "lo")
    tale.finish("run_1")
    tale.prompt("run_2")
    tale.start("run_2")
    tale.prompt("run_3")
    sent = tale.tick()
    tale.finish("run_3", "cancelled", "user")
    tale.finish("run_2", "cancelled", "user")
    body = {"cancelled": ["run_2", "run_3"], "head": len(tale.log), "settled": True}
    tale.entries += [
        Request(id="stop", client="other", method="POST", path=CANCEL, sent_at=sent),
        Answer(id="stop", at=tale.tick(), status=200, body=body),
    ]
    tale.prompt("run_4")
    tale.start("run_4")
    crash(tale)
    tale.finish("run_4", "interrupted", "server_crashed")
    return tale


def watched(tale: Tale) -> Tale:
    tale.watch("first")
    tale.watch("second", after=4)
    return tale


def rewound(tale: Tale, *, sent: float | None = None) -> None:
    removed = ["run_4_u", "run_4_a"]
    sent = tale.tick() if sent is None else sent
    tale.event("session.rewound", removed=removed)
    answer = {"removed": removed, "head": len(tale.log)}
    tale.entries += [
        Request(id="undo", client="other", method="POST", path=f"{PATH}/undo", sent_at=sent),
        Answer(id="undo", at=tale.tick(), status=200, body=answer),
    ]


def frames(tale: Tale, connection: str) -> list[int]:
    return [
        n
        for n, entry in enumerate(tale.entries)
        if isinstance(entry, Seen) and entry.connection == connection
    ]


# What is done to the log before anyone sees it.


def swap_starts(tale: Tale) -> None:
    """The fourth run is accepted first, and starts last."""
    tale.prompt("run_5")
    tale.prompt("run_6")
    tale.start("run_6")
    tale.finish("run_6")
    tale.start("run_5")
    tale.finish("run_5")


def lose_an_ending(tale: Tale) -> None:
    tale.prompt("run_5")


def forget_a_prompt(tale: Tale) -> None:
    tale.prompt("run_5")
    del tale.log[-1], tale.times[-1]


def change_a_prompt(tale: Tale) -> None:
    tale.log[0]["run"]["input"] = "something else"


def outlive_a_cancel(tale: Tale) -> None:
    """The answer says that all had ended one event before the last of it."""
    stop = next(e for e in tale.entries if isinstance(e, Answer) and e.id == "stop")
    stop.body["head"] -= 1


def forget_one_in_a_cancel(tale: Tale) -> None:
    """A run that was accepted before the cancel goes on after it."""
    tale.prompt("run_5")
    answer = {"cancelled": [], "head": len(tale.log), "settled": True}
    tale.call_server("POST", CANCEL, status=200, answer=answer)
    tale.start("run_5")
    tale.finish("run_5")


def cancel_what_was_never_stopped(tale: Tale) -> None:
    """The only cancel was answered before this run was sent."""
    tale.prompt("run_5")
    tale.start("run_5")
    tale.finish("run_5", "cancelled", "user")


def crash_without_a_crash(tale: Tale) -> None:
    tale.entries = [entry for entry in tale.entries if not isinstance(entry, Misfortune)]


def run_what_nobody_asked(tale: Tale) -> None:
    tale.prompt("run_5")
    del tale.entries[-2:]
    tale.start("run_5")
    tale.finish("run_5")


def run_twice_for_one_key(tale: Tale) -> None:
    tale.prompt("run_5", input="again")
    tale.prompt("run_6", input="again")
    for run_id in ("run_5", "run_6"):
        tale.start(run_id)
        tale.finish(run_id)
    for entry in tale.entries:
        if isinstance(entry, Request) and entry.key in ("key run_5", "key run_6"):
            entry.key = "one key"


def change_an_ending(tale: Tale) -> None:
    ended = {**tale.runs["run_1"], "reason": "max_tokens"}
    tale.call_server("GET", "/api/runs/run_1", status=200, answer=ended)


def forget_an_ending(tale: Tale) -> None:
    before = {**tale.runs["run_1"], "status": "running", "reason": None, "finished_at": None}
    tale.call_server("GET", "/api/runs/run_1", status=200, answer=before)


def fail_inside(tale: Tale) -> None:
    tale.call_server("GET", PATH, status=500, answer={"code": "internal"})


def lose_a_session(tale: Tale) -> None:
    tale.call_server("GET", PATH, status=404, answer={"code": "not_found"})


def read_something_else(tale: Tale) -> None:
    answer = {"messages": [], "head": len(tale.log)}
    tale.call_server("GET", f"{PATH}/messages", status=200, answer=answer)


def read_an_old_state(tale: Tale) -> None:
    tale.call_server("GET", PATH, status=200, answer={"head": 3})


def lose_a_change(tale: Tale) -> None:
    title = {"title": "mine"}
    tale.call_server("PATCH", PATH, title, status=200, answer={"head": len(tale.log)})


def put_a_change_before_what_was_seen(tale: Tale) -> None:
    """The rename was sent last, and stands first."""
    tale.event("session.updated", changes={"title": "mine"})
    tale.call_server("PATCH", PATH, {"title": "mine"}, status=200, answer={"head": len(tale.log)})


def see_the_future(tale: Tale) -> None:
    tale.times[0] = 0.5


def hide_a_place(tale: Tale) -> None:
    answer = {"head": len(tale.log) + 1}
    tale.call_server("GET", PATH, status=200, answer=answer)


SPOILT_LOGS: list[tuple[Spoil, str]] = [
    (swap_starts, Rule.IN_ORDER),
    (lose_an_ending, claim.ANSWERED),
    (forget_a_prompt, claim.ANSWERED),
    (change_a_prompt, claim.ANSWERED),
    (outlive_a_cancel, claim.STOPPED),
    (forget_one_in_a_cancel, claim.COVERED),
    (cancel_what_was_never_stopped, claim.CAUSE),
    (crash_without_a_crash, claim.CAUSE),
    (run_what_nobody_asked, claim.ASKED),
    (run_twice_for_one_key, claim.SAME),
    (run_twice_for_one_key, claim.ASKED),
    (change_an_ending, claim.ENDING),
    (forget_an_ending, claim.ENDING),
    (fail_inside, claim.FAULT),
    (lose_a_session, claim.THERE),
    (read_something_else, biography.RELOAD),
    (read_an_old_state, order.FRESH),
    (lose_a_change, order.KEPT),
    (put_a_change_before_what_was_seen, order.AFTER),
    (see_the_future, order.FUTURE),
    (hide_a_place, biography.WHOLE),
]


# What is done to one reader's stream.


def skip_one(tale: Tale) -> None:
    del tale.entries[frames(tale, "second")[3]]


def repeat_one(tale: Tale) -> None:
    n = frames(tale, "second")[3]
    tale.entries.insert(n, tale.entries[n])


def begin_too_late(tale: Tale) -> None:
    del tale.entries[frames(tale, "second")[0]]


def see_something_else(tale: Tale) -> None:
    event = copy.deepcopy(tale.log[8])
    event["run_id"] = "run_9"
    tale.entries[frames(tale, "second")[4]] = seen("second", event, 99.0)


def number_wrongly(tale: Tale) -> None:
    for reader, n in (("first", 8), ("second", 4)):
        event = {**tale.log[8], "seq": 77}
        frame = seen(reader, event, 99.0)
        frame.seq = 9
        tale.entries[frames(tale, reader)[n]] = frame


def lose_the_cursor(tale: Tale) -> None:
    snapshot: dict[str, Any] = {"type": "snapshot", "seq": 2, "session_id": "ses_1"}
    frame = seen("second", {**snapshot, "messages": [], "runs": []}, 99.0)
    tale.entries[frames(tale, "second")[0]] = frame


def leave_out_of_a_run(tale: Tale) -> None:
    opened = Opened(connection="run", client="c", stream="/api/runs/run_1/events", sent_at=0.0)
    shown = [seen("run", tale.log[n], 99.0) for n in (0, 1, 3)]
    tale.entries += [opened, *shown]


SPOILT_STREAMS: list[tuple[Spoil, str]] = [
    (skip_one, evidence.NO_GAP),
    (repeat_one, evidence.NO_GAP),
    (begin_too_late, evidence.NO_GAP),
    (see_something_else, evidence.ONE_LOG),
    (number_wrongly, evidence.SHAPE),
    (lose_the_cursor, evidence.NO_GAP),
    (leave_out_of_a_run, biography.OF_A_RUN),
]
