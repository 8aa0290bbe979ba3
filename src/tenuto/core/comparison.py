"""Comparisons: the same prompts to several models, side by side, and a vote between them.

Each pane is a session. A comparison is kept with all its models; `shown` is the only way out.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Generic, Literal, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from tenuto.core.desk import Change, Desk, Moment
from tenuto.core.error import AlreadyAnswered, Conflict, InvalidInput, NotFound
from tenuto.core.event import SessionUpdated
from tenuto.core.principal import OWNER, By
from tenuto.core.run import Mode
from tenuto.core.session import Control, PaneOf, RunShown, Session, SessionChanges
from tenuto.core.value import ComparisonId, Instant, PrincipalId, SessionId, Value, WorkspaceId
from tenuto.core.veil import Veil

LABELS = "ABCDEFGH"

Winner = int | Literal["tie", "none"]
"""The index of the best pane, or that they are equally good, or that none is good."""


class Pane(Value):
    session_id: SessionId
    model: str


class Vote(Value):
    winner: Winner
    among: tuple[int, ...]
    """The panes that were still there."""
    at: Instant
    by: By = UNSET
    """Who voted; UNSET before anything said who."""


class Comparison(Value):
    """As it is kept. A client is never given one: see `shown`."""

    id: ComparisonId
    workspace_id: WorkspaceId
    mode: Mode
    blind: bool
    by: PrincipalId = OWNER.id
    """Who made it."""
    created_at: Instant
    panes: tuple[Pane, ...]
    vote: Vote | None = None

    @property
    def hidden(self) -> bool:
        """Whether no model may be seen yet."""
        return self.blind and self.vote is None


class PaneState(StrEnum):
    OPEN = "open"
    KEPT = "kept"
    """Its session is one of its own now."""
    DELETED = "deleted"


class ShownPane(Value):
    index: int
    label: str
    session_id: SessionId
    model: str | None
    """None: hidden until the vote."""
    state: PaneState


class ShownComparison(Value):
    """What anyone may see of a comparison."""

    id: ComparisonId
    workspace_id: WorkspaceId
    title: str
    """The first words of what was asked; empty before."""
    mode: Mode
    blind: bool
    voted: bool
    winner: Winner | None
    """None before the vote."""
    voted_at: Instant | None
    by: PrincipalId
    created_at: Instant
    panes: tuple[ShownPane, ...]


T_co = TypeVar("T_co", covariant=True)


class Verdict(Value, Generic[T_co]):
    """A comparison after a decision about it, and what that changes in its panes' sessions."""

    comparison: Comparison
    changes: dict[SessionId, Change[Any]]
    result: T_co
    """What to tell the caller."""


def shown(comparison: Comparison, sessions: Sequence[Session]) -> ShownComparison:
    """The comparison without what its vote will reveal. `sessions` are those still there."""
    there = {session.id: session for session in sessions}
    vote = comparison.vote
    return ShownComparison(
        id=comparison.id,
        workspace_id=comparison.workspace_id,
        title=next((session.title for session in sessions if session.title), ""),
        mode=comparison.mode,
        blind=comparison.blind,
        voted=vote is not None,
        winner=None if vote is None else vote.winner,
        voted_at=None if vote is None else vote.at,
        by=comparison.by,
        created_at=comparison.created_at,
        panes=tuple(
            ShownPane(
                index=index,
                label=LABELS[index],
                session_id=pane.session_id,
                model=None if comparison.hidden else pane.model,
                state=_state(there.get(pane.session_id)),
            )
            for index, pane in enumerate(comparison.panes)
        ),
    )


def pane_session(comparison: Comparison, index: int) -> tuple[Session, Control]:
    """A pane's session as it begins."""
    pane = comparison.panes[index]
    session = Session(
        id=pane.session_id,
        workspace_id=comparison.workspace_id,
        by=comparison.by,
        model=None if comparison.hidden else pane.model,
        created_at=comparison.created_at,
        updated_at=comparison.created_at,
        comparison=PaneOf(
            id=comparison.id,
            index=index,
            label=LABELS[index],
            mode=comparison.mode,
            blind=comparison.blind,
        ),
    )
    return session, Control(veil=Veil(model=pane.model) if comparison.hidden else None)


def vote(
    comparison: Comparison, desks: Mapping[SessionId, Desk], winner: Winner, moment: Moment
) -> Verdict[Comparison]:
    """Take the one vote, and lift every pane's veil with it."""
    if comparison.vote is not None:
        raise AlreadyAnswered(f"comparison {comparison.id} has been voted on")
    among = tuple(n for n, pane in enumerate(comparison.panes) if pane.session_id in desks)
    if isinstance(winner, int) and winner not in among:
        raise InvalidInput(f"winner: comparison {comparison.id} has no pane {winner} to vote for")
    voted = replace(comparison, vote=Vote(winner=winner, among=among, at=moment.now, by=moment.by))
    return Verdict(
        comparison=voted,
        result=voted,
        changes={
            session_id: _reveal(desk, desk.session.comparison, moment)
            for session_id, desk in desks.items()
            if desk.session.comparison is not None
        },
    )


def keep(
    comparison: Comparison, desks: Mapping[SessionId, Desk], index: int, moment: Moment
) -> Verdict[Comparison]:
    """Make a pane's session one of its own. Keeping it again changes nothing."""
    if not 0 <= index < len(comparison.panes):
        raise InvalidInput(f"index: comparison {comparison.id} has no pane {index}")
    if comparison.hidden:
        raise Conflict("vote first: a blind pane cannot be kept before its model is known")
    session_id = comparison.panes[index].session_id
    desk = desks.get(session_id)
    if desk is None:
        raise NotFound(f"pane {LABELS[index]} was deleted")
    if desk.session.comparison is None:
        return Verdict(comparison=comparison, changes={}, result=comparison)
    change = _update(desk, SessionChanges(comparison=None), moment)
    return Verdict(comparison=comparison, changes={session_id: change}, result=comparison)


def _reveal(desk: Desk, pane: PaneOf, moment: Moment) -> Change[None]:
    changes = SessionChanges(comparison=replace(pane, voted=True))
    veil = desk.control.veil
    if veil is None:
        return _update(desk, changes, moment)
    runs = tuple(veil.lifted(run) for run in desk.runs)
    told = replace(
        changes,
        model=veil.model,
        usage=veil.whole(desk.session.usage),
        # Nothing of a run follows its end, so what is new about ended runs is told of the session.
        runs={run.id: RunShown(model=run.model, error=run.error, usage=run.usage) for run in runs},
    )
    change = _update(desk, told, moment)
    return replace(change, control=replace(desk.control, veil=None), revealed=runs)


def _update(desk: Desk, changes: SessionChanges, moment: Moment) -> Change[None]:
    event = SessionUpdated(session_id=desk.session.id, at=moment.now, by=moment.by, changes=changes)
    return Change(events=(event,), control=desk.control, result=None)


def _state(session: Session | None) -> PaneState:
    if session is None:
        return PaneState.DELETED
    return PaneState.KEPT if session.comparison is None else PaneState.OPEN
