"""Moving everything from one database to another: whole, checked, and begun again if need be.

Nothing may use either of them meanwhile. What is copied is rows, in an order in which whoever looks
into a half-moved database finds nothing that speaks of what is not there yet: sessions come last.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol

from msgspec.structs import replace

from tenuto.core.error import StorageTrouble
from tenuto.core.value import SessionId, StreamId, Value
from tenuto.ports.query import ComparisonQuery, SessionQuery
from tenuto.ports.store import Store

BATCH = 500
BATCH_OF_FILES = 4
"""Each may be large."""
PAGE = 1_000
MARK = "moving"
"""The name under which the target remembers that it is not whole yet, and where it comes from."""


class Table(Value):
    """One kind of row, as every database gives and takes it."""

    name: str
    key: tuple[str, ...]
    rest: tuple[str, ...] = ()
    batch: int = BATCH

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.key, *self.rest)


TOKENS = ("input", "output", "reasoning", "cache_read", "cache_write")
TABLES = (
    Table(name="kept", key=("name",), rest=("body", "rev")),
    Table(name="workspaces", key=("id",), rest=("created_at", "body")),
    Table(
        name="files", key=("id",), rest=("body", "content", "unused_since"), batch=BATCH_OF_FILES
    ),
    Table(name="file_uses", key=("session_id", "file_id")),
    Table(name="comparisons", key=("id",), rest=("workspace_id", "created_at", "voted_at", "body")),
    Table(name="answers", key=("principal", "key"), rest=("digest", "at", "owner", "body")),
    Table(
        name="usage",
        key=("day", "workspace_id", "principal", "model", "kind"),
        rest=("runs", *(f"{kind}_tokens" for kind in TOKENS), "exact", "cost_usd"),
    ),
    Table(name="events", key=("stream", "seq"), rest=("type", "run_id", "about", "body")),
    Table(
        name="runs",
        key=("session_id", "id"),
        rest=("accept_number", "accepted_at", "accepted_seq", "status", "body"),
    ),
    Table(name="messages", key=("session_id", "id"), rest=("seq", "role", "run_id", "body")),
    Table(name="things", key=("session_id", "kind", "id"), rest=("seq", "open", "body")),
    Table(
        name="compactions",
        key=("session_id", "seq"),
        rest=("through_message_id", "through_part_id", "summary"),
    ),
    Table(name="unfolded", key=("session_id", "message_id"), rest=("first", "last", "finished_at")),
    Table(
        name="logs",
        key=("stream",),
        rest=("head", "folded", "active_run", "epoch", "owner", "deleted_at"),
    ),
    Table(
        name="sessions",
        key=("id",),
        rest=("workspace_id", "archived", "comparison_id", "updated_at", "body", "control"),
    ),
    # Nothing is told of them but by their session.
    Table(name="outputs", key=("session_id", "name", "at"), rest=("body",), batch=BATCH_OF_FILES),
)

Row = tuple[Any, ...]


class Chest(Protocol):
    """A database that nobody else uses, as rows."""

    def store(self) -> AbstractAsyncContextManager[Store]:
        """The same as a store, open; brought to this version's shape by that."""

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def take(self, table: Table, after: Row | None) -> Sequence[Row]:
        """The next rows above that key, in its order; none if there are no more."""

    async def put(self, table: Table, rows: Sequence[Row]) -> None:
        """Store them, in the place of those with the same keys, and make their words findable."""

    async def count(self, table: Table) -> int: ...


class Moved(Value):
    rows: dict[str, int]
    """By table."""
    sessions: int
    """That were compared, event by event."""


def chest_of(url: str) -> Chest:
    """The database of this address: `sqlite:///…` or `postgresql://…`."""
    if url.startswith(("postgresql://", "postgres://")):
        # Its driver is only for those who use it.
        chest: Chest = importlib.import_module("tenuto.storage.postgres.chest").PostgresChest(url)
        return chest
    if url.startswith("sqlite:///"):
        path = Path(url.removeprefix("sqlite:///")).expanduser()
        chest = importlib.import_module("tenuto.storage.sqlite.chest").SqliteChest(path)
        return chest
    raise StorageTrouble(f"{url} is neither sqlite:///… nor postgresql://…")


async def move(
    source: Chest, target: Chest, *, name: str, said: Callable[[str], None] = lambda _: None
) -> Moved:
    """Copy all of it and compare. Raises StorageTrouble, and may then be called again.

    `name` says where it comes from: a target that holds anything else is not touched.
    """
    async with source.store():
        pass
    async with target.store() as store:
        rev = await _claim(store, name)
    rows: dict[str, int] = {}
    await source.open()
    await target.open()
    try:
        for table in TABLES:
            rows[table.name] = await _copy(source, target, table)
            said(f"{table.name}: {rows[table.name]}")
        await _count(target, rows)
    finally:
        await source.close()
        await target.close()
    async with source.store() as old, target.store() as new:
        compared = await _compare(old, new)
        # Only now is it whole: until here it must be moved again.
        await new.keep(MARK, b"", rev=rev)
    said(f"compared: {compared} sessions")
    return Moved(rows=rows, sessions=compared)


async def is_half_moved(store: Store) -> bool:
    """Whether a move into this database was begun and not ended: nobody should work on it."""
    mark = await store.kept(MARK)
    return mark is not None and bool(mark.body)


async def _claim(store: Store, name: str) -> int:
    """The rev under which the target is ours to fill."""
    mark = await store.kept(MARK)
    if mark is not None and mark.body == name.encode():
        return mark.rev
    if mark is not None or await store.workspaces():
        raise StorageTrouble("the database to move to is not empty: give an empty one")
    return await store.keep(MARK, name.encode(), rev=0)


async def _copy(source: Chest, target: Chest, table: Table) -> int:
    copied, after = 0, None
    while rows := await source.take(table, after):
        after = rows[-1][: len(table.key)]
        # A mark at the source is of its own past.
        kept = [row for row in rows if table.name != "kept" or row[0] != MARK]
        await target.put(table, kept)
        copied += len(kept)
    return copied


async def _count(target: Chest, copied: Mapping[str, int]) -> None:
    for table in TABLES:
        found = await target.count(table) - (table.name == "kept")
        if found != copied[table.name]:
            raise StorageTrouble(
                f"{table.name}: {copied[table.name]} rows were moved and {found} are there:"
                " the database to move from has changed meanwhile. Move into an empty one"
            )


async def _compare(old: Store, new: Store) -> int:
    """Every session's log and what is folded from it are the same; how many there are."""
    compared = 0
    for workspace in await old.workspaces():
        await _same_log(old, new, StreamId(workspace.id))
    for session_id in await _session_ids(old):
        await _same_log(old, new, StreamId(session_id))
        if await old.snapshot(session_id) != await new.snapshot(session_id):
            raise StorageTrouble(f"session {session_id} is not the same in both databases")
        compared += 1
    return compared


async def _session_ids(store: Store) -> list[SessionId]:
    found: list[SessionId] = []
    for archived in (False, True):
        query = SessionQuery(archived=archived, limit=PAGE)
        while True:
            page = await store.sessions(query)
            found += [session.id for session in page.sessions]
            if page.next is None:
                break
            query = replace(query, cursor=page.next)
    panes = ComparisonQuery(limit=PAGE)
    while True:
        compared = await store.comparisons(panes)
        found += [session.id for one in compared.comparisons for session in one.sessions]
        if compared.next is None:
            return list(dict.fromkeys(found))
        panes = replace(panes, cursor=compared.next)


async def _same_log(old: Store, new: Store, stream: StreamId) -> None:
    """Raises StorageTrouble if the two differ in a byte: then what is folded from them may, too."""
    after = 0
    while True:
        page = await old.read(stream, after=after, limit=PAGE)
        if page != await new.read(stream, after=after, limit=PAGE):
            raise StorageTrouble(f"log {stream} is not the same in both databases")
        if not page.events:
            return
        after = page.events[-1].seq
