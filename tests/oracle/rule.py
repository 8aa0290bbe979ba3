"""What no log may break, a sentence for each."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, NoReturn

Json = dict[str, Any]


class Rule(StrEnum):
    KNOWN = "the contract knows every event"
    COMMON = "every event says what all say"
    NO_GAP = "seqs have no gaps"
    OWN_LOG = "an event is of its session"
    LAST = "nothing follows session.deleted"

    ACCEPTED_FIRST = "a run is accepted first"
    ACCEPTED_ONCE = "a run is accepted once, and queued at first"
    OWN_RUN = "an event of a run names it"
    NUMBERED = "accept numbers have no gaps"
    REJECTED = "a busy session rejects"
    REPLACED = "an interrupt leaves nothing waiting"
    GOES_ON = "there is something to go on from"
    WAITING = "only what waits is changed"
    SAME_QUEUE = "the same runs wait in another order"
    ONE_ACTIVE = "one run is active at a time"
    IN_ORDER = "runs start in their order"
    STARTED = "what starts is running, and has a time"

    ENDED_LAST = "nothing of a run follows its end"
    ENDING = "an ending is one of four, with a reason of its kind"
    ERROR = "a run has an error if it failed, and else none"
    ENDED_AT = "an ending has a time"
    TAKEN = "what waits is cancelled, or taken by the active run"
    NO_QUESTION_LEFT = "no question outlives its run"
    NO_MESSAGE = "a compaction, a steer and what was withdrawn leave no message"
    PROMPT_FIRST = "a prompt becomes a user message first"
    ANSWERED = "an answer is last, and all is whole"
    ENDS_ALIKE = "the answer ends as its run"
    ONE_ANSWER = "a run has one answer, and one more for each steer"
    NEVER_RAN = "what never ran said nothing"

    AT_WORK = "only the active run writes"
    OF_NO_RUN = "only a fork begins with messages of no run"
    STARTS_ONCE = "a message starts once, and never comes back"
    BELONGS = "a message is of its run and its session"
    COMES_WHOLE = "a user message comes whole"
    STARTS_EMPTY = "an answer starts open and empty"
    OPEN = "only an open message grows, and in its own run"
    PART_ONCE = "a part starts once"
    PART_FIRST = "a part starts before it changes"
    OFFSET = "a delta goes on at its offset, and says something"
    INPUT_FIRST = "a call's input streams before it does anything else"
    FIELD = "a delta adds to a field that its part has"
    OUTPUT_WHILE_RUNNING = "a call's output grows while it runs"
    SAID_ONCE = "an update does not repeat the input and output that are known"
    ONLY_CALLS = "only tool calls are changed, and keep their name and input"
    CALL_STATES = "a call goes through its states, and ends once"
    FINISHED_ONCE = "a message finishes once, in its run"
    NO_OPEN_CALL = "no call is left open"
    REWOUND = "the end is removed, in order, from a user message on"
    REWOUND_IDLE = "only an idle session is rewound"

    JOB_ONCE = "a job starts once, and stays the command that it was"
    JOB_OF_A_RUN = "the active run starts jobs"
    JOB_ENDS_ONCE = "a job ends once, and is not changed after that"
    JOBS_STOP = "a run that is cancelled has told its jobs to stop"
    ASKED = "the active run asks, once for each question"
    ANSWERED_ONCE = "a question is answered once"
    ANSWERS_FIT = "a question that is answered has an answer to each, any other has none"
    NAMED = "a user's name stays"
    COMPACTED = "the active run compacts, up to a message that is there"
    CHANGES_AT_WORK = "the active run changes files, or a person those of one that has ended"
    CHANGE_STATE = "a change is in one of its states, and only a person takes one back"
    BEFORE_STAYS = "what was there before a run stays what it was"
    ANNOUNCED = "what a file tool changes is said before it is done"
    DELETED_IDLE = "what is deleted has ended"


class RuleBroken(AssertionError):
    """A log that breaks a rule."""

    def __init__(self, rule: Rule, *seen: object) -> None:
        super().__init__(f"{rule}: {', '.join(map(repr, seen))}")
        self.rule = rule


Report = Callable[..., None]
"""Called with the rule and what was seen: it raises, or writes it down."""


def refuse(rule: Rule, *seen: object) -> NoReturn:
    raise RuleBroken(rule, *seen)
