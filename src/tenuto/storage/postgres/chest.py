"""A PostgreSQL database as rows, to be moved."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from tenuto.core.error import StorageTrouble
from tenuto.core.message import Message
from tenuto.core.session import Session
from tenuto.storage.assemble import decode
from tenuto.storage.moving import Row, Table
from tenuto.storage.postgres.connections import connect, storable
from tenuto.storage.postgres.indexing import vectors
from tenuto.storage.postgres.migration import Durability
from tenuto.storage.postgres.places import CHUNK_BYTES
from tenuto.storage.postgres.store import PostgresStore
from tenuto.storage.postgres.trouble import explained
from tenuto.storage.statements import TITLE
from tenuto.storage.unheard import Unheard

SOURCES = {
    "files": "(SELECT f.*, coalesce((SELECT string_agg(c.content, '' ORDER BY c.n) FROM chunks c"
    " WHERE c.file_id = f.id), '') AS content FROM files f) files",
    "usage": "(SELECT day, workspace_id, principal, model, kind, sum(runs)::bigint AS runs,"
    " sum(input_tokens)::bigint AS input_tokens, sum(output_tokens)::bigint AS output_tokens,"
    " sum(reasoning_tokens)::bigint AS reasoning_tokens,"
    " sum(cache_read_tokens)::bigint AS cache_read_tokens,"
    " sum(cache_write_tokens)::bigint AS cache_write_tokens, bool_and(exact) AS exact,"
    " sum(cost_usd) AS cost_usd FROM usage GROUP BY 1, 2, 3, 4, 5 HAVING sum(runs) > 0) usage",
}
"""Where rows are kept in another way than they are moved."""


class PostgresChest:
    def __init__(self, url: str, *, durability: Durability = Durability.REQUIRED) -> None:
        self._url = url
        self._durability = durability
        self._line: Any = None

    @asynccontextmanager
    async def store(self) -> AsyncIterator[PostgresStore]:
        store = PostgresStore(self._url, Unheard(), durability=self._durability)
        await store.open()
        try:
            yield store
        finally:
            await store.close()

    async def open(self) -> None:
        try:
            self._line = await connect(self._url, {"application_name": "tenuto move"})
            alive = await self._line.fetchval(
                "SELECT coalesce(nullif(name, ''), id) FROM nodes WHERE until > clock_timestamp()"
            )
            if alive is not None:
                raise StorageTrouble(f"node {alive} works on the database: stop it first")
            for (workspace,) in await self._line.fetch("SELECT DISTINCT workspace_id FROM outbox"):
                await self._line.fetch("SELECT * FROM tenuto_sequence_1($1)", workspace)
        except Exception as error:
            await self.close()
            raise explained(error) from error

    async def close(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            await line.close()

    async def take(self, table: Table, after: Row | None) -> Sequence[Row]:
        key = ", ".join(table.key)
        marks = ", ".join(f"${n}" for n in range(1, len(table.key) + 1))
        where = "" if after is None else f"WHERE ({key}) > ({marks})"
        source = SOURCES.get(table.name, table.name)
        sql = (
            f"SELECT {', '.join(table.columns)} FROM {source} {where} ORDER BY {key}"
            f" LIMIT {table.batch}"
        )
        rows = [tuple(row) for row in await self._line.fetch(sql, *(after or ()))]
        if table.name == "compactions":
            return [(*row[:-1], row[-1].decode()) for row in rows]
        return rows

    async def put(self, table: Table, rows: Sequence[Row]) -> None:
        columns, values = list(table.columns), [tuple(map(storable, row)) for row in rows]
        match table.name:
            case "messages":
                columns.append("open")
                values = [(*v, decode(v[-1], Message).finish_reason is None) for v in values]
            case "compactions":
                values = [(*row[:-1], row[-1].encode()) for row in rows]
            case "usage":
                columns.append("slot")
                values = [(*row, 0) for row in values]
            case "files":
                columns.remove("content")
                values = [(id, body, since) for id, body, _, since in values]
        async with self._line.transaction():
            await self._line.executemany(_upsert(table, columns), values)
            if table.name == "files":
                await self._line.executemany(
                    "INSERT INTO chunks VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
                    [chunk for row in rows for chunk in _chunks(row[0], row[2])],
                )
            await self._index(table, rows)

    async def count(self, table: Table) -> int:
        source = SOURCES.get(table.name, table.name) if table.name == "usage" else table.name
        return int(await self._line.fetchval(f"SELECT count(*) FROM {source}"))

    async def _index(self, table: Table, rows: Sequence[Row]) -> None:
        texts = [text for row in rows for text in _texts(table, row)]
        if not texts:
            return
        await self._line.executemany(
            "DELETE FROM search WHERE session_id = $1 AND message_id = $2",
            [(session_id, message_id) for session_id, message_id, _ in texts],
        )
        await self._line.executemany(
            "INSERT INTO search VALUES ($1, $2, $3, $4::text::tsvector)",
            [
                (session_id, message_id, n, vector)
                for session_id, message_id, text in texts
                for n, vector in enumerate(vectors(text))
            ],
        )


def _upsert(table: Table, columns: Sequence[str]) -> str:
    marks = ", ".join(f"${n}" for n in range(1, len(columns) + 1))
    key = [*table.key, "slot"] if "slot" in columns else table.key
    changed = [f"{c} = excluded.{c}" for c in columns if c not in key]
    then = f"UPDATE SET {', '.join(changed)}" if changed else "NOTHING"
    return (
        f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES ({marks})"
        f" ON CONFLICT ({', '.join(key)}) DO {then}"
    )


def _chunks(file_id: str, content: bytes) -> list[tuple[str, int, bytes]]:
    places = range(0, len(content), CHUNK_BYTES)
    return [(file_id, n, content[at : at + CHUNK_BYTES]) for n, at in enumerate(places, start=1)]


def _texts(table: Table, row: Row) -> list[tuple[str, str, str]]:
    if table.name == "sessions":
        session = decode(row[table.columns.index("body")], Session)
        return [(session.id, TITLE, session.title)]
    if table.name == "messages":
        message = decode(row[table.columns.index("body")], Message)
        if message.finish_reason is not None:
            return [(message.session_id, message.id, message.text())]
    return []
