"""What the rooms of the store share."""

from collections.abc import Mapping
from typing import Any, TypeVar

from msgspec.structs import replace

from tenuto.core.error import StorageTrouble
from tenuto.ports.query import Once
from tenuto.storage.once import Answer
from tenuto.storage.postgres.appender import Appender
from tenuto.storage.postgres.connections import Connections
from tenuto.storage.postgres.deciding import Deciding
from tenuto.storage.postgres.lanes import Lanes
from tenuto.storage.postgres.ringer import Ringer
from tenuto.storage.postgres.sequencer import Sequencer
from tenuto.storage.postgres.telling import Telling
from tenuto.storage.postgres.writes import Writes

T = TypeVar("T")


class StoreParts:
    def __init__(
        self,
        sql: Mapping[str, str],
        *,
        reads: Connections,
        writes: Writes,
        lanes: Lanes,
        ringer: Ringer,
        telling: Telling,
        sequencer: Sequencer,
        appender: Appender,
        deciding: Deciding,
    ) -> None:
        self.sql = sql
        self.reads = reads
        self.writes = writes
        self.lanes = lanes
        self.ringer = ringer
        self.telling = telling
        self.sequencer = sequencer
        self.appender = appender
        self.deciding = deciding

    async def fetch(self, name: str, *values: Any) -> list[Any]:
        return await self.reads.fetch(self.sql[name], *values)

    async def row(self, name: str, *values: Any) -> Any | None:
        rows = await self.fetch(name, *values)
        return rows[0] if rows else None

    async def head(self, stream: str) -> int:
        row = await self.row("head", stream)
        return 0 if row is None else int(row["head"])

    async def known(self, once: Once | None) -> Answer | None:
        """What this request was answered with before."""
        row = None if once is None else await self.row("answer", once.by, once.key)
        if once is None or row is None:
            return None
        known = replace(once, digest=row["digest"], at=row["at"])
        return Answer(once=known, owner=row["owner"], body=row["body"])

    async def first(self, once: Once | None, kind: type[T]) -> T:
        """As `known`, when it was just said to be there."""
        known = await self.known(once)
        if once is None or known is None:
            raise StorageTrouble("what was answered before has just been forgotten")
        result: T = known.again(once, kind)
        return result
