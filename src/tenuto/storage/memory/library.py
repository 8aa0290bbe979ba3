"""Reading a memory store."""

from collections.abc import Sequence

from tenuto.core.file import FileInfo
from tenuto.core.file_change import FileChange
from tenuto.core.message import Message, after_part
from tenuto.core.run import Run, RunStatus
from tenuto.core.session import Control, Session, Workspace
from tenuto.core.thing import K, kind_of, of_kind
from tenuto.core.value import (
    FileId,
    MessageId,
    RunId,
    SessionId,
    StreamId,
    WorkspaceId,
)
from tenuto.ports.query import (
    Background,
    Compaction,
    MessagePage,
    PlacedRun,
    RunPage,
    RunQuery,
    SessionPage,
    SessionQuery,
    SessionSnapshot,
    WorkspaceOverview,
)
from tenuto.storage.cursor import place, run_cursor, session_cursor, turn, turn_cursor
from tenuto.storage.memory.search import matches
from tenuto.storage.memory.session_rows import State
from tenuto.storage.missing import no_such, no_user_message

RECENT_RUNS = 100


class MemoryLibrary:
    def __init__(self) -> None:
        self._state = State()

    async def session(self, session_id: SessionId) -> Session:
        return self._state.session(self._state.rows(session_id))

    async def control(self, session_id: SessionId) -> Control:
        return self._state.rows(session_id).control

    async def sessions(self, query: SessionQuery) -> SessionPage:
        start = None if query.cursor is None else place(query.cursor)
        found = [
            self._state.session(rows)
            for rows in self._state.by_session.values()
            if query.workspace_id in (None, rows.session.workspace_id)
            and _is_listed(rows.session, query)
            and (query.words is None or matches(rows, query.words))
        ]
        found.sort(key=lambda session: (session.updated_at, session.id), reverse=True)
        rest = [s for s in found if start is None or (s.updated_at, s.id) < start]
        page = tuple(rest[: query.limit])
        more = len(rest) > len(page) > 0
        tape = self._state.tapes.get(StreamId(query.workspace_id or ""))
        return SessionPage(
            sessions=page,
            next=session_cursor(page[-1]) if more else None,
            head=None if tape is None else tape.head,
        )

    async def snapshot(
        self, session_id: SessionId, *, most_messages: int | None = None
    ) -> SessionSnapshot:
        rows = self._state.rows(session_id)
        runs = sorted(rows.runs.values(), key=lambda run: run.accept_number)
        recent = {run.id for run in runs[-RECENT_RUNS:]}
        messages = rows.transcript(self._state.tape(session_id))
        first = 0 if most_messages is None else max(0, len(messages) - most_messages)
        return SessionSnapshot(
            session=self._state.session(rows),
            messages=messages[first:],
            runs=tuple(run for run in runs if run.id in recent or not run.ended),
            things=rows.open_things(),
            queue=rows.control.queue,
            compactions=tuple(
                Compaction(
                    through_message_id=one.through, through_part_id=one.part, summary=one.summary
                )
                for one in rows.compactions
            ),
            more=first > 0,
        )

    async def workspace_snapshot(
        self, workspace_id: WorkspaceId, *, most_sessions: int, most_runs: int
    ) -> WorkspaceOverview:
        workspace = self._state.workspace(workspace_id)
        page = await self.sessions(SessionQuery(workspace_id=workspace_id, limit=most_sessions))
        here = [
            rows
            for rows in self._state.by_session.values()
            if rows.session.workspace_id == workspace_id
            and _is_listed(rows.session, SessionQuery(archived=rows.session.archived))
        ]
        runs = [run for rows in here for run in rows.runs.values() if not run.ended]
        runs.sort(
            key=lambda run: (run.held, run.status is RunStatus.QUEUED, run.accepted_at, run.id)
        )
        return WorkspaceOverview(
            workspace=workspace,
            sessions=page.sessions,
            next=page.next,
            runs=tuple(runs[:most_runs]),
            head=page.head or 0,
        )

    async def messages(
        self, session_id: SessionId, *, limit: int, before: MessageId | None
    ) -> MessagePage:
        rows = self._state.rows(session_id)
        found = rows.transcript(self._state.tape(session_id))
        if before is not None:
            ids = [message.id for message in found]
            if before not in ids:
                raise no_such("message", before)
            found = found[: ids.index(before)]
        page = found[-limit:]
        return MessagePage(
            messages=page,
            head=self._state.session(rows).head,
            before=page[0].id if len(found) > limit else None,
        )

    async def open_message(self, session_id: SessionId) -> Message | None:
        rows = self._state.rows(session_id)
        open_id = rows.control.open_message
        if open_id is None:
            return None
        return rows.whole(rows.messages[open_id], self._state.tape(session_id))

    async def background(self, session_id: SessionId) -> Background:
        rows = self._state.rows(session_id)
        messages = rows.transcript(self._state.tape(session_id))
        head = self._state.session(rows).head
        if not rows.compactions:
            return Background(summary=None, messages=messages, head=head)
        last = rows.compactions[-1]
        since = [message.id for message in messages].index(last.through)
        rest = messages[since + 1 :]
        if last.part is not None:
            rest = (after_part(messages[since], last.part), *rest)
        return Background(summary=last.summary, messages=rest, head=head)

    async def user_message(self, session_id: SessionId, message_id: MessageId | None) -> Message:
        rows = self._state.rows(session_id)
        for message in reversed(rows.messages.values()):
            if message.role == "user" and message_id in (None, message.id):
                return message
        raise no_user_message(session_id, message_id)

    async def run(self, run_id: RunId) -> Run:
        return self._state.run(run_id)[1]

    async def placed_run(self, run_id: RunId) -> PlacedRun:
        rows, run = self._state.run(run_id)
        head = self._state.session(rows).head
        return PlacedRun(run=run, accepted=rows.accepted[run.id], head=head)

    async def runs(self, query: RunQuery) -> RunPage:
        if query.session_id is not None:
            return self._runs_of(query.session_id, query)
        start = None if query.cursor is None else place(query.cursor)
        found = self._state.runs(query.status)
        found.sort(key=lambda run: (run.accepted_at, run.id), reverse=True)
        rest = [r for r in found if start is None or (r.accepted_at, r.id) < start]
        page = tuple(rest[: query.limit])
        more = len(rest) > len(page) > 0
        return RunPage(runs=page, next=run_cursor(page[-1]) if more else None)

    def _runs_of(self, session_id: SessionId, query: RunQuery) -> RunPage:
        start = None if query.cursor is None else turn(query.cursor)
        found = [
            run
            for run in self._state.rows(session_id).runs.values()
            if query.status in (None, run.status) and (start is None or run.accept_number < start)
        ]
        found.sort(key=lambda run: run.accept_number, reverse=True)
        page = tuple(found[: query.limit])
        more = len(found) > len(page) > 0
        return RunPage(runs=page, next=turn_cursor(page[-1]) if more else None)

    async def thing(self, kind: type[K], thing_id: str) -> K:
        name = kind_of(kind).name
        for rows in self._state.by_session.values():
            found = rows.things.get((name, thing_id))
            if isinstance(found, kind):
                return found
        raise no_such(name, thing_id)

    async def things(self, session_id: SessionId, kind: type[K]) -> Sequence[K]:
        return of_kind(self._state.rows(session_id).things.values(), kind)

    async def changes(self, run_id: RunId) -> Sequence[FileChange]:
        found = [
            thing
            for rows in self._state.by_session.values()
            for thing in of_kind(rows.things.values(), FileChange)
        ]
        return tuple(change for change in found if change.run_id == run_id)

    async def open_things(self, kind: type[K]) -> Sequence[K]:
        by_session = sorted(self._state.by_session.items())
        return tuple(thing for _, rows in by_session for thing in of_kind(rows.open_things(), kind))

    async def workspaces(self) -> Sequence[Workspace]:
        return sorted(self._state.workspaces.values(), key=lambda w: (w.created_at, w.id))

    async def workspace(self, workspace_id: WorkspaceId) -> Workspace:
        return self._state.workspace(workspace_id)

    async def file(self, file_id: FileId) -> FileInfo:
        return self._file(file_id)[0]

    async def file_content(self, file_id: FileId) -> bytes:
        return self._file(file_id)[1]

    def _file(self, file_id: FileId) -> tuple[FileInfo, bytes]:
        if file_id not in self._state.files:
            raise no_such("file", file_id)
        return self._state.files[file_id]


def _is_listed(session: Session, query: SessionQuery) -> bool:
    if query.parent is not None:
        return bool(session.parent) and session.root_id == query.parent
    if session.comparison is not None or session.archived != query.archived:
        return False
    return query.children or not session.parent
