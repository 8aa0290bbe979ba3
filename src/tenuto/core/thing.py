"""The things of a session: what its log tells of that has a life of its own.

A new kind is a value with `id`, `session_id` and `state`, its events (`ThingEvent`), and a row here.
Every store keeps it, gives it and lays the open ones on the desk by that.
"""

from collections.abc import Iterable
from typing import TypeVar

from tenuto.core.approval import Approval, ApprovalState
from tenuto.core.file_change import FileChange
from tenuto.core.job import Job, JobState
from tenuto.core.question import Question, QuestionState
from tenuto.core.value import Value

Request = Approval | Question
"""What a run asks a person."""
Thing = Request | Job | FileChange

K = TypeVar("K", bound=Thing)
R = TypeVar("R", bound=Request)


class ThingKind(Value):
    name: str
    """What the stores call it."""
    many: str
    """What clients call several of them."""
    value: type[Thing]
    open: frozenset[str]
    """The states in which something may still become of it: decisions see those."""


KINDS = (
    ThingKind(
        name="approval",
        many="approvals",
        value=Approval,
        open=frozenset({ApprovalState.PENDING}),
    ),
    ThingKind(
        name="question",
        many="questions",
        value=Question,
        open=frozenset({QuestionState.PENDING}),
    ),
    ThingKind(name="job", many="jobs", value=Job, open=frozenset({JobState.RUNNING})),
    # Never open: a decision about one is told which, so that it costs the same after a thousand.
    ThingKind(name="change", many="changes", value=FileChange, open=frozenset()),
)
_BY_VALUE: dict[type, ThingKind] = {kind.value: kind for kind in KINDS}
_BY_NAME = {kind.name: kind for kind in KINDS}


def kind_of(value: type[K]) -> ThingKind:
    return _BY_VALUE[value]


def kind_named(name: str) -> ThingKind:
    return _BY_NAME[name]


def is_open(thing: Thing) -> bool:
    return thing.state in kind_of(type(thing)).open


def of_kind(things: Iterable[Thing], value: type[K]) -> tuple[K, ...]:
    """Those of this kind, in their order."""
    return tuple(thing for thing in things if isinstance(thing, value))
