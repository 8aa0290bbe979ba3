"""Families: what is done to a session and its sub-agents at once."""

from collections.abc import Callable, Mapping

from msgspec import UNSET

from tenuto.core import delegating
from tenuto.core.cancelling import Covered
from tenuto.core.desk import Change, Desk, Joint, Moment
from tenuto.core.error import NotFound
from tenuto.core.run import Reason, Run
from tenuto.core.value import SessionId
from tenuto.ports.store import Store


async def cover(
    store: Store,
    session_id: SessionId,
    decide: Callable[[Desk], Change[Covered]],
    reason: Reason,
    moment: Moment,
) -> tuple[Covered, int]:
    """Store a cancel of a session, and in the same change that of its sub-agents; the head is that
    of the session."""
    children: tuple[SessionId, ...] = ()

    def alone(desk: Desk) -> Change[Covered]:
        change = decide(desk)
        _must_know(desk, change, children)
        return change

    def together(desks: Mapping[SessionId, Desk]) -> Joint[Covered]:
        if session_id not in desks:
            raise NotFound(f"there is no session {session_id}")
        change = alone(desks[session_id])
        below = {one: desk for one, desk in desks.items() if one != session_id}
        joint = delegating.cover(below, change, reason, moment)
        return Joint(changes={session_id: change, **joint.changes}, result=joint.result)

    while True:
        try:
            if not children:
                return await store.commit(session_id, alone)
            covered = await store.commit_together((session_id, *children), together)
            return covered, (await store.session(session_id)).head
        except _More as more:
            children = more.children


async def is_for_nobody(store: Store, run: Run) -> bool:
    """Whether it is a sub-agent's, and the run that began it has ended."""
    if run.parent_run is UNSET:
        return False
    try:
        return (await store.run(run.parent_run)).ended
    except NotFound:
        return True


class _More(Exception):
    """There are sub-agents that the decision did not see."""

    def __init__(self, children: tuple[SessionId, ...]) -> None:
        super().__init__(children)
        self.children = children


def _must_know(desk: Desk, change: Change[Covered], known: tuple[SessionId, ...]) -> None:
    there = desk.control.children if change.result.active is not None else ()
    if not {*there} <= {*known}:
        raise _More(there)
