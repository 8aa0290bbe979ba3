"""Reading sessions, runs and what was said in them."""

from collections.abc import Sequence

from tenuto.core.file_change import FileChange
from tenuto.core.message import Message
from tenuto.core.run import Run, RunStatus
from tenuto.core.session import Control, Session, Workspace
from tenuto.core.thing import K, kind_of
from tenuto.core.value import MessageId, RunId, SessionId, WorkspaceId
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
    background_of,
    decode,
    decode_all,
    message_page,
    session_of,
    snapshot_of,
    unfinished,
)
from tenuto.storage.cursor import place, run_cursor, session_cursor, turn, turn_cursor
from tenuto.storage.kept_bytes import changes_between
from tenuto.storage.missing import no_such, no_user_message
from tenuto.storage.sqlite.file.db import Database
from tenuto.storage.sqlite.file.transaction import Row, Transaction
from tenuto.storage.sqlite.rows import held, message, newest, open_things, run_of, transcript
from tenuto.storage.sqlite.search import sessions_with
from tenuto.storage.statements import encode, states_of

FEW = 1_000
"""Sessions that a search found; past it, enough of them are among the newest."""


class SqliteLibrary:
    _db: Database

    async def session(self, session_id: SessionId) -> Session:
        return await self._db.read(lambda tx: held(tx, session_id).session)

    async def control(self, session_id: SessionId) -> Control:
        return await self._db.read(lambda tx: held(tx, session_id).control)

    async def sessions(self, query: SessionQuery) -> SessionPage:
        return await self._db.read(lambda tx: _sessions(tx, query))

    async def workspace_snapshot(
        self, workspace_id: WorkspaceId, *, most_sessions: int, most_runs: int
    ) -> WorkspaceOverview:
        def read(tx: Transaction) -> WorkspaceOverview:
            row = tx.row("workspace", id=workspace_id)
            if row is None:
                raise no_such("workspace", workspace_id)
            page = _sessions(tx, SessionQuery(workspace_id=workspace_id, limit=most_sessions))
            runs = tx.rows("unfinished_of_workspace", workspace_id=workspace_id, limit=most_runs)
            return WorkspaceOverview(
                workspace=decode(row[0], Workspace),
                sessions=page.sessions,
                next=page.next,
                runs=decode_all(runs, Run),
                head=page.head or 0,
            )

        return await self._db.read(read)

    async def snapshot(
        self, session_id: SessionId, *, most_messages: int | None = None
    ) -> SessionSnapshot:
        return await self._db.read(lambda tx: _snapshot(tx, session_id, most_messages))

    async def messages(
        self, session_id: SessionId, *, limit: int, before: MessageId | None
    ) -> MessagePage:
        return await self._db.read(lambda tx: _messages(tx, session_id, limit, before))

    async def open_message(self, session_id: SessionId) -> Message | None:
        def read(tx: Transaction) -> Message | None:
            open_id = held(tx, session_id).control.open_message
            return None if open_id is None else message(tx, session_id, open_id)

        return await self._db.read(read)

    async def background(self, session_id: SessionId) -> Background:
        return await self._db.read(lambda tx: _background(tx, session_id))

    async def user_message(self, session_id: SessionId, message_id: MessageId | None) -> Message:
        return await self._db.read(lambda tx: _user_message(tx, session_id, message_id))

    async def run(self, run_id: RunId) -> Run:
        return await self._db.read(lambda tx: decode(_run_row(tx, run_id)[0], Run))

    async def placed_run(self, run_id: RunId) -> PlacedRun:
        def read(tx: Transaction) -> PlacedRun:
            body, accepted = _run_row(tx, run_id)
            run = decode(body, Run)
            head = held(tx, run.session_id).session.head
            return PlacedRun(run=run, accepted=accepted, head=head)

        return await self._db.read(read)

    async def runs(self, query: RunQuery) -> RunPage:
        of_session = query.session_id is not None
        bodies = await self._db.read(lambda tx: _run_rows(tx, query))
        page = decode_all(bodies[: query.limit], Run)
        if not len(bodies) > len(page) > 0:
            return RunPage(runs=page, next=None)
        return RunPage(
            runs=page, next=turn_cursor(page[-1]) if of_session else run_cursor(page[-1])
        )

    async def thing(self, kind: type[K], thing_id: str) -> K:
        name = kind_of(kind).name
        row = await self._db.read(lambda tx: tx.row("thing", kind=name, id=thing_id))
        if row is None:
            raise no_such(name, thing_id)
        return decode(row[0], kind)

    async def things(self, session_id: SessionId, kind: type[K]) -> Sequence[K]:
        def read(tx: Transaction) -> list[Row]:
            held(tx, session_id)
            return tx.rows("things", session_id=session_id, kind=kind_of(kind).name)

        return decode_all(await self._db.read(read), kind)

    async def changes(self, run_id: RunId) -> Sequence[FileChange]:
        first, last = changes_between(run_id)
        rows = await self._db.read(lambda tx: tx.rows("changes", first=first, last=last))
        return decode_all(rows, FileChange)

    async def open_things(self, kind: type[K]) -> Sequence[K]:
        name = kind_of(kind).name
        return decode_all(
            await self._db.read(lambda tx: tx.rows("open_things_of_kind", kind=name)), kind
        )


def _sessions(tx: Transaction, query: SessionQuery) -> SessionPage:
    at, id = NEWEST if query.cursor is None else place(query.cursor)
    rows, head = _session_rows(tx, query, at, id), _workspace_head(tx, query)
    page = tuple(session_of(row) for row in rows[: query.limit])
    more = len(rows) > len(page) > 0
    next = session_cursor(page[-1]) if more else None
    return SessionPage(sessions=page, next=next, head=head)


def _session_rows(tx: Transaction, query: SessionQuery, at: str, id: str) -> list[Row]:
    common = {"archived": query.archived, "at": at, "id": id, "limit": query.limit + 1}
    if query.parent is not None:
        return tx.rows("sessions_within", parent=query.parent, at=at, id=id, limit=query.limit + 1)
    found = None if query.words is None else sessions_with(tx, query.words)
    if query.children:
        among = None if found is None else encode(found).decode()
        whose = query.workspace_id
        return tx.rows("sessions_with_children", ids=among, workspace_id=whose, **common)
    if found is not None:
        how = "sessions_found" if len(found) <= FEW else "sessions_among"
        ids = encode(found).decode()
        return tx.rows(how, ids=ids, workspace_id=query.workspace_id, **common)
    if query.workspace_id is None:
        return tx.rows("sessions_page", **common)
    return tx.rows("sessions_page_of_workspace", workspace_id=query.workspace_id, **common)


def _workspace_head(tx: Transaction, query: SessionQuery) -> int | None:
    row = None if query.workspace_id is None else tx.row("log", stream=query.workspace_id)
    return None if row is None else int(row[0])


def _snapshot(tx: Transaction, session_id: SessionId, most: int | None) -> SessionSnapshot:
    found = held(tx, session_id)
    recent = tx.rows("runs_of_session", session_id=session_id, before=FOR_EVER, limit=RECENT_RUNS)
    runs = {run.id: run for run in (decode(body, Run) for (body,) in recent)}
    for run_id in unfinished(found):
        if run_id not in runs:
            runs[run_id] = run_of(tx, session_id, run_id)
    if most is None:
        messages = transcript(tx, session_id, after=0)
    else:
        # One more than asked for tells whether there are older ones.
        messages = newest(tx, session_id, before=FOR_EVER, limit=most + 1)
    return snapshot_of(
        found,
        messages,
        runs.values(),
        things=open_things(tx, session_id),
        compactions=tx.rows("compactions", session_id=session_id),
        most=most,
    )


def _messages(
    tx: Transaction, session_id: SessionId, limit: int, before: MessageId | None
) -> MessagePage:
    head = held(tx, session_id).session.head
    seq = FOR_EVER
    if before is not None:
        row = tx.row("message", session_id=session_id, id=before)
        if row is None:
            raise no_such("message", before)
        seq = row[1]
    # One more than asked for tells whether there are older ones.
    found = newest(tx, session_id, before=seq, limit=limit + 1)
    return message_page(found, head=head, limit=limit)


def _background(tx: Transaction, session_id: SessionId) -> Background:
    head = held(tx, session_id).session.head
    row = tx.row("last_compaction", session_id=session_id)
    summary, part, after = (None, None, 0) if row is None else row
    # A summary that ends within a message needs that one, too.
    messages = transcript(tx, session_id, after=after if part is None else after - 1)
    return background_of(summary, part, messages, head=head)


def _user_message(tx: Transaction, session_id: SessionId, message_id: MessageId | None) -> Message:
    held(tx, session_id)
    if message_id is None:
        row = tx.row("last_user_message", session_id=session_id)
        found = None if row is None else decode(row[0], Message)
    else:
        found = message(tx, session_id, message_id)
    if found is None or found.role != "user":
        raise no_user_message(session_id, message_id)
    return found


def _run_row(tx: Transaction, run_id: RunId) -> Row:
    row = tx.row("run", id=run_id)
    if row is None:
        raise no_such("run", run_id)
    return row


def _run_rows(tx: Transaction, query: RunQuery) -> list[Row]:
    limit = query.limit + 1
    states = None if query.status is None else states_of(query.status)
    status = {} if states is None else {"status": states[0], "held": states[1]}
    if query.session_id is not None:
        held(tx, query.session_id)
        before = FOR_EVER if query.cursor is None else turn(query.cursor)
        name = "runs_of_session_in" if status else "runs_of_session"
        return tx.rows(name, session_id=query.session_id, before=before, limit=limit, **status)
    at, id = NEWEST if query.cursor is None else place(query.cursor)
    if query.status is RunStatus.QUEUED:
        return tx.rows("runs_page_waiting", at=at, id=id, limit=limit)
    if query.status is not None:
        return tx.rows("runs_page_in", at=at, id=id, limit=limit, status=query.status)
    return tx.rows("runs_page", at=at, id=id, limit=limit)
