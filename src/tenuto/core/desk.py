"""A desk is what one decision about a session sees; a change is what it decides.

A store lays the desk inside a transaction, calls the decision, and writes the change in the
same transaction. So every decision below is pure, and every race is a matter of order.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Generic, TypeVar

from msgspec import UNSET

from tenuto.core.day_usage import Booking
from tenuto.core.error import Fenced
from tenuto.core.event import Event
from tenuto.core.message import Message, Role
from tenuto.core.principal import By
from tenuto.core.run import Run
from tenuto.core.session import Control, Fence, Session
from tenuto.core.thing import K, Thing, of_kind
from tenuto.core.value import Instant, MessageId, NodeId, RunId, SessionId, Value

T_co = TypeVar("T_co", covariant=True)


class Sight(StrEnum):
    """How much of a session a decision needs to see."""

    CONTROL = "control"
    """The session, its unfinished runs and its open things: cheap, whatever its length."""
    HISTORY = "history"
    """Also the outline of its transcript and its newest run."""
    RUNS = "runs"
    """As `CONTROL`, and every run that it ever had."""


class Outline(Value):
    id: MessageId
    role: Role
    run_id: RunId | None


class Desk(Value):
    session: Session
    control: Control
    active: Run | None
    queue: tuple[Run, ...]
    """Queued runs, in the order of `control.queue`."""
    things: tuple[Thing, ...] = ()
    """Those that are open (pending approvals), oldest first."""
    outline: tuple[Outline, ...] = ()
    """All messages, oldest first; empty without `Sight.HISTORY`."""
    last_run: Run | None = None
    """The newest run that was neither taken back, steered nor a compaction.

    None without `Sight.HISTORY`.
    """
    runs: tuple[Run, ...] = ()
    """All runs, newest first; empty without `Sight.RUNS`."""

    @property
    def next(self) -> Run | None:
        """The queued run whose turn it is: held ones are passed over."""
        return next((run for run in self.queue if not run.held), None)

    @property
    def idle(self) -> bool:
        """Nothing runs, and nothing is about to."""
        return self.active is None and self.next is None

    def open(self, kind: type[K]) -> tuple[K, ...]:
        """The open things of this kind, oldest first; none that its log only repeats."""
        own = (thing for thing in self.things if thing.session_id == self.session.id)
        return of_kind(own, kind)

    def held_by(self, fence: Fence) -> Run:
        """The active run, if the holder of `fence` still owns it."""
        if (
            self.active is None
            or self.active.id != fence.run_id
            or self.control.epoch != fence.epoch
        ):
            raise Fenced(f"run {fence.run_id} is no longer this writer's")
        return self.active


class Change(Value, Generic[T_co]):
    """Events to append, the control row after them, and what to tell the caller."""

    events: tuple[Event, ...]
    control: Control
    result: T_co
    finished: tuple[Message, ...] = ()
    """Each message that a `message.finished` among the events closes, whole."""
    revealed: tuple[Run, ...] = ()
    """Each run of which a `session.updated` among the events shows more, whole."""
    booked: tuple[Booking, ...] = ()
    """What was used apart from the runs that end here."""


class Joint(Value, Generic[T_co]):
    """Changes of several sessions, all or none, and what to tell the caller."""

    changes: dict[SessionId, Change[Any]]
    result: T_co


T = TypeVar("T")
Decide = Callable[[Desk], Change[T]]


class Moment(Value):
    """When and where a decision is made, and for whom."""

    now: Instant
    node: NodeId
    by: By = UNSET
