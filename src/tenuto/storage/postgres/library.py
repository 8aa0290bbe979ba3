"""Reading sessions, runs and what was said in them: each read is one statement."""

from collections.abc import Sequence
from typing import Any

from tenuto.core.file_change import FileChange
from tenuto.core.message import Message
from tenuto.core.run import Run, RunStatus
from tenuto.core.session import Control, Session, Workspace
from tenuto.core.thing import K, kind_of
from tenuto.core.value import MessageId, RunId, SessionId, StreamId, WorkspaceId
from tenuto.ports.query import (
    Background,
    MessagePage,
    PlacedRun,
    RunPage,
    RunQuery,
    SessionPage,
    SessionQuery,
    SessionSnapshot,
    WorkspaceOverview,
)
from tenuto.storage.assemble import (
    FOR_EVER,
    NEWEST,
    RECENT_RUNS,
    Held,
    background_of,
    decode,
    decode_all,
    held_of,
    message_page,
    session_of,
    snapshot_of,
    things_of,
    whole,
)
from tenuto.storage.cursor import place, run_cursor, session_cursor, turn, turn_cursor
from tenuto.storage.kept_bytes import changes_between
from tenuto.storage.missing import no_such, no_user_message
from tenuto.storage.postgres.indexing import queries
from tenuto.storage.postgres.parts import StoreParts
from tenuto.storage.statements import states_of


class PostgresLibrary:
    _parts: StoreParts

    async def session(self, session_id: SessionId) -> Session:
        return (await self._held(session_id)).session

    async def control(self, session_id: SessionId) -> Control:
        return (await self._held(session_id)).control

    async def sessions(self, query: SessionQuery) -> SessionPage:
        return _session_page(await self._overview(query), query)

    async def workspace_snapshot(
        self, workspace_id: WorkspaceId, *, most_sessions: int, most_runs: int
    ) -> WorkspaceOverview:
        query = SessionQuery(workspace_id=workspace_id, limit=most_sessions)
        rows = await self._overview(query, most_runs)
        workspaces = [row["body"] for row in rows if row["k"] == "w"]
        if not workspaces:
            raise no_such("workspace", workspace_id)
        page = _session_page(rows, query)
        return WorkspaceOverview(
            workspace=decode(workspaces[0], Workspace),
            sessions=page.sessions,
            next=page.next,
            runs=tuple(decode(row["body"], Run) for row in rows if row["k"] == "r"),
            head=page.head or 0,
        )

    async def snapshot(
        self, session_id: SessionId, *, most_messages: int | None = None
    ) -> SessionSnapshot:
        # One more than asked for tells whether there are older ones.
        most = FOR_EVER if most_messages is None else most_messages + 1
        sql = f"{self._parts.sql['snapshot']} {self._parts.sql['snapshot_more']}"
        rows = await self._parts.reads.fetch(sql, session_id, 0, FOR_EVER, most, RECENT_RUNS)
        read = _Read(rows, session_id)
        return snapshot_of(
            read.held(),
            read.messages(),
            [decode(row["body"], Run) for row in read.of("r")],
            things=things_of((row["x"], row["body"]) for row in read.of("t")),
            compactions=[(row["x"], row["y"], row["body"].decode()) for row in read.of("c")],
            most=most_messages,
        )

    async def messages(
        self, session_id: SessionId, *, limit: int, before: MessageId | None
    ) -> MessagePage:
        seq = FOR_EVER
        if before is not None:
            row = await self._parts.row("message_place", session_id, before)
            if row is None:
                await self._held(session_id)
                raise no_such("message", before)
            seq = row["seq"]
        # One more than asked for tells whether there are older ones.
        rows = await self._parts.fetch("snapshot", session_id, 0, seq, limit + 1)
        read = _Read(rows, session_id)
        return message_page(read.messages(), head=read.held().session.head, limit=limit)

    async def open_message(self, session_id: SessionId) -> Message | None:
        read = _Read(await self._parts.fetch("open_message", session_id), session_id)
        open_id = read.held().control.open_message
        return next((message for message in read.messages() if message.id == open_id), None)

    async def background(self, session_id: SessionId) -> Background:
        read = _Read(await self._parts.fetch("background", session_id), session_id)
        head, messages = read.held().session.head, read.messages()
        if not read.of("c"):
            return background_of(None, None, messages, head=head)
        (last,) = read.of("c")
        # A summary that ends within a message needs that one, too.
        since = messages if last["x"] is not None else messages[1:]
        return background_of(last["body"].decode(), last["x"], since, head=head)

    async def user_message(self, session_id: SessionId, message_id: MessageId | None) -> Message:
        row = await self._parts.row("user_message", session_id, message_id)
        if row is None:
            await self._held(session_id)
            raise no_user_message(session_id, message_id)
        return decode(row[0], Message)

    async def run(self, run_id: RunId) -> Run:
        return (await self.placed_run(run_id)).run

    async def placed_run(self, run_id: RunId) -> PlacedRun:
        row = await self._parts.row("run", run_id)
        if row is None:
            raise no_such("run", run_id)
        body, accepted, head = row
        return PlacedRun(run=decode(body, Run), accepted=accepted, head=head)

    async def runs(self, query: RunQuery) -> RunPage:
        limit, of_session = query.limit + 1, query.session_id is not None
        status = None if query.status is None else states_of(query.status)
        if query.session_id is not None:
            before = FOR_EVER if query.cursor is None else turn(query.cursor)
            await self._held(query.session_id)
            rows = await self._parts.fetch(
                "runs_of_session", query.session_id, before, status, limit
            )
        else:
            at, id = NEWEST if query.cursor is None else place(query.cursor)
            if query.status is None:
                rows = await self._parts.fetch("runs_page", at, id, limit)
            elif query.status is RunStatus.QUEUED:
                rows = await self._parts.fetch("runs_page_waiting", at, id, limit)
            else:
                rows = await self._parts.fetch("runs_page_in", at, id, limit, query.status.value)
        page = decode_all(rows[: query.limit], Run)
        if not len(rows) > len(page) > 0:
            return RunPage(runs=page, next=None)
        return RunPage(
            runs=page, next=turn_cursor(page[-1]) if of_session else run_cursor(page[-1])
        )

    async def thing(self, kind: type[K], thing_id: str) -> K:
        name = kind_of(kind).name
        row = await self._parts.row("thing", name, thing_id)
        if row is None:
            raise no_such(name, thing_id)
        return decode(row[0], kind)

    async def things(self, session_id: SessionId, kind: type[K]) -> Sequence[K]:
        await self._held(session_id)
        name = kind_of(kind).name
        return decode_all(await self._parts.fetch("things", session_id, name), kind)

    async def changes(self, run_id: RunId) -> Sequence[FileChange]:
        rows = await self._parts.fetch("changes", *changes_between(run_id))
        return decode_all(rows, FileChange)

    async def open_things(self, kind: type[K]) -> Sequence[K]:
        name = kind_of(kind).name
        return decode_all(await self._parts.fetch("open_things_of_kind", name), kind)

    async def _held(self, session_id: SessionId) -> Held:
        row = await self._parts.row("session", session_id)
        if row is None:
            raise no_such("session", session_id)
        return held_of(tuple(row))

    async def _overview(self, query: SessionQuery, most_runs: int | None = None) -> list[Any]:
        """A page of sessions, and where their workspace's log is; with its runs, if so many."""
        at, id = NEWEST if query.cursor is None else place(query.cursor)
        words = None if query.words is None else queries(query.words)
        sql = self._parts.sql["sessions_with_children" if query.children else "sessions_page"]
        values = [query.archived, at, id, query.workspace_id, query.limit + 1, words]
        if query.parent is not None:
            sql, values = self._parts.sql["sessions_within"], [query.parent, at, id, values[4]]
        if most_runs is not None:
            sql, values = f"{sql} {self._parts.sql['workspace_more']}", [*values, most_runs]
        while True:
            rows = await self._parts.reads.fetch(sql, *values)
            if not any(row["waiting"] for row in rows):
                return sorted(rows, key=lambda row: int(row["place"]))
            # What the sessions show must be in the log by the place that is told with them.
            await self._parts.sequencer.sequence(StreamId(query.workspace_id or ""))


def _session_page(rows: Sequence[Any], query: SessionQuery) -> SessionPage:
    found = [row for row in rows if row["k"] == "s"]
    page = tuple(session_of((row["body"], row["n"])) for row in found[: query.limit])
    more = len(found) > len(page) > 0
    return SessionPage(
        sessions=page,
        next=session_cursor(page[-1]) if more else None,
        head=next((row["n"] for row in rows if row["k"] == "l"), None),
    )


class _Read:
    """The rows of one statement about a session, by what they are."""

    def __init__(self, rows: Sequence[Any], session_id: SessionId) -> None:
        self._rows: dict[str, list[Any]] = {}
        for row in sorted(rows, key=lambda row: int(row["n"])):
            self._rows.setdefault(row["k"], []).append(row)
        if "s" not in self._rows:
            raise no_such("session", session_id)

    def of(self, kind: str) -> list[Any]:
        return self._rows.get(kind, [])

    def held(self) -> Held:
        (row,) = self._rows["s"]
        return held_of((row["body"], row["more"], row["n"]))

    def messages(self) -> tuple[Message, ...]:
        """Oldest first, each as the log has it now."""
        parts = [(row["n"], row["x"], row["y"], row["body"]) for row in self.of("p")]
        return tuple(whole(decode(row["body"], Message), parts) for row in self.of("m"))
