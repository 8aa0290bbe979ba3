"""Deciding about several sessions at once: a session and its sub-agents."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from tenuto.core.desk import Change, Desk, Sight
from tenuto.core.session import Session
from tenuto.core.value import SessionId, StreamId
from tenuto.ports.store import Together
from tenuto.storage.plan import Plan, created, echo, echoes, empty_desk, planned_for
from tenuto.storage.postgres.deciding import Changes
from tenuto.storage.postgres.parts import StoreParts
from tenuto.storage.postgres.trouble import explained
from tenuto.storage.postgres.writing import Guard
from tenuto.storage.statements import rows_of

T = TypeVar("T")

ALL_TRIES = 50


class PostgresFamilies:
    _parts: StoreParts

    async def commit_together(
        self, session_ids: Sequence[SessionId], decide: Together[T], *, new: Session | None = None
    ) -> T:
        work = self._commit_together(session_ids, decide, new)
        return await self._parts.deciding.shielded(work)

    async def _commit_together(
        self, session_ids: Sequence[SessionId], decide: Together[T], new: Session | None
    ) -> T:
        async with self._parts.lanes.turn(*map(StreamId, session_ids)):
            for _ in range(ALL_TRIES):
                stored, result = await self._try(session_ids, decide, new)
                if stored:
                    return result
        raise explained(TimeoutError())

    async def _try(
        self, session_ids: Sequence[SessionId], decide: Together[T], new: Session | None
    ) -> tuple[bool, T]:
        """Decide on what is there now; whether it was stored, and the result."""
        found = await self._parts.deciding.lay(session_ids, Sight.CONTROL, None)
        desks = dict(found.desks)
        if new is not None:
            desks[new.id] = empty_desk(new)
        joint = decide(desks)
        written = changed(desks, found.revs, joint.changes)
        for planned in list(written.plans):
            written = joined(written, await heard(self._parts, planned, within=written))
        if written.changes:
            is_made = new is not None and new.id in joint.changes
            send = self._beside(new.id) if new is not None and is_made else None
            if await self._parts.deciding.write(written, send=send) != "ok":
                return False, joint.result
            self._parts.deciding.tell_changed(list(joint.changes))
        return True, joint.result

    def _beside(self, new: SessionId) -> Callable[[list[Any]], Awaitable[Any]]:
        return lambda values: self._parts.writes.write("write_beside", [new, *values])


def changed(
    desks: Mapping[SessionId, Desk],
    revs: Mapping[SessionId, int],
    changes: Mapping[SessionId, Change[Any]],
) -> Changes:
    """Each on what it was decided on; one without a rev is new, and begins at 0."""
    written = Changes([], [])
    for session_id, change in changes.items():
        laid, planned = desks[session_id], planned_for(desks[session_id], change)
        if session_id in revs:
            head = laid.session.head if planned.stored else None
            row = (rows_of(planned, before=laid.session), Guard(revs[session_id], head))
        else:
            planned = created(planned)
            row = (rows_of(planned, before=None), Guard(0, 0))
        written = joined(written, Changes([row], [planned]))
    return written


async def heard(
    parts: StoreParts, planned: Plan, *, within: Changes, connection: Any = None
) -> Changes:
    """What the session that people look at repeats of its sub-agent, if this change is of one."""
    root_id = planned.session.root_id
    if not echoes(planned) or any(other.session.id == root_id for other in within.plans):
        return Changes([], [])
    found = await parts.deciding.lay([root_id], Sight.CONTROL, None, connection=connection)
    root = found.desks.get(root_id)
    repeated = None if root is None else echo(planned, root.session, root.control)
    if root is None or repeated is None:
        return Changes([], [])
    guard = Guard(found.revs[root_id], root.session.head)
    return Changes([(rows_of(repeated, before=root.session), guard)], [repeated])


def joined(one: Changes, other: Changes) -> Changes:
    return Changes([*one.changes, *other.changes], [*one.plans, *other.plans])
