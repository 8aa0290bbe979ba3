"""Streams: which events a viewer gets, and from where."""

from functools import partial

from tenuto.api.call import Call
from tenuto.api.parameter import AFTER
from tenuto.api.sse import Batches, snapshot_frame
from tenuto.core.run import Run
from tenuto.core.thing import KINDS, of_kind
from tenuto.core.value import RunId, SessionId, StreamId, Value, WorkspaceId
from tenuto.engine.tailer import EncodedEvent
from tenuto.ports.query import SessionSnapshot

NO_CURSOR = 0
MOST_SESSIONS = 200
MOST_RUNS = 5_000
"""Of a workspace's snapshot: what waits past it is told when it starts."""


class Beginning(Value):
    """Where in a log a viewer begins."""

    cursor: str | None
    """None: at its beginning."""
    most_messages: int | None = None
    """How many a snapshot may tell; None: all."""


class Viewing:
    """Opens the streams of one call, from the cursor that it gives or from `place`."""

    def __init__(self, call: Call, *, place: Beginning | None = None) -> None:
        self._sees = call.sees
        self._tailer = call.to.engine.tailer
        self._place = place or Beginning(
            cursor=call.request.headers.get("last-event-id", call.ask(AFTER))
        )

    async def session(self, session_id: SessionId) -> Batches:
        head = (await self._sees.session(session_id)).head
        after = self._after(head)

        async def take() -> tuple[bytes, int]:
            most = self._place.most_messages
            return _session_frame(await self._sees.snapshot(session_id, most_messages=most))

        return partial(
            self._tailer.follow,
            StreamId(session_id),
            after=after,
            snapshot=take,
            last=lambda frame: frame.type == "session.deleted",
        )

    async def run(self, run_id: RunId) -> Batches:
        """Of one run only; ends after its `run.finished`, also if that was seen before."""
        placed = await self._sees.placed_run(run_id)
        return self._of_run(placed.run, placed.accepted, self._after(placed.head), placed.head)

    async def accepted(self, run: Run) -> Batches:
        """Of a run that was accepted for this very call, usually a moment ago."""
        accepted = self._tailer.accepted_at(StreamId(run.session_id), run.id)
        if accepted is None or self._place.cursor is not None:
            return await self.run(run.id)
        return self._of_run(run, accepted, NO_CURSOR, accepted)

    def _of_run(self, run: Run, accepted: int, after: int | None, head: int) -> Batches:
        run_id, told = run.id, False

        async def take() -> tuple[bytes, int]:
            # The run may have ended since we looked: then the snapshot tells it, and no event will.
            nonlocal told
            snapshot = await self._sees.snapshot(run.session_id)
            told = all(known.ended for known in snapshot.runs if known.id == run_id)
            return _session_frame(snapshot)

        def shown(frame: EncodedEvent) -> bool:
            return frame.run_id == run_id or frame.type in ("snapshot", "session.deleted")

        def last(frame: EncodedEvent) -> bool:
            if frame.type == "snapshot":
                return told
            finished = frame.type == "run.finished" and frame.run_id == run_id
            return finished or frame.type == "session.deleted"

        return partial(
            self._tailer.follow,
            StreamId(run.session_id),
            after=after if after is None else max(after, accepted - 1),
            # Folded deltas are whole again in one: a run can be replayed without a snapshot.
            snapshot=take if after is None else None,
            shown=shown,
            last=last,
            until=head if run.ended else None,
        )

    async def workspace(self, workspace_id: WorkspaceId) -> Batches:
        await self._sees.workspace(workspace_id)
        stream = StreamId(workspace_id)
        head = (await self._sees.read(stream, after=0, limit=1)).head

        async def take() -> tuple[bytes, int]:
            return await self._workspace_snapshot(workspace_id)

        return partial(
            self._tailer.follow,
            stream,
            after=self._after(head),
            snapshot=take,
            last=lambda frame: False,
        )

    def _after(self, head: int) -> int | None:
        """Where to go on; None: the cursor cannot be used, or asks for a snapshot."""
        cursor = self._place.cursor
        if cursor is None:
            return NO_CURSOR
        if not (cursor.isascii() and cursor.isdecimal()) or len(cursor) > 18:
            return None
        after = int(cursor)
        return after if after <= head else None

    async def _workspace_snapshot(self, workspace_id: WorkspaceId) -> tuple[bytes, int]:
        # One read: an event is told here or comes after, never both.
        found = await self._sees.workspace_snapshot(
            workspace_id, most_sessions=MOST_SESSIONS, most_runs=MOST_RUNS
        )
        data: dict[str, object] = {
            "workspace": found.workspace,
            "sessions": found.sessions,
            "next": found.next,
            "runs": found.runs,
        }
        return snapshot_frame(found.head, data), found.head


def _session_frame(snapshot: SessionSnapshot) -> tuple[bytes, int]:
    head = snapshot.session.head
    data: dict[str, object] = {
        "session_id": snapshot.session.id,
        "session": snapshot.session,
        "messages": snapshot.messages,
        "runs": snapshot.runs,
        **{kind.many: of_kind(snapshot.things, kind.value) for kind in KINDS},
        "queue": snapshot.queue,
        "compactions": snapshot.compactions,
        "more": snapshot.more,
    }
    return snapshot_frame(head, data), head
