"""The PostgreSQL store."""

import asyncio
import secrets
from collections.abc import Sequence

from tenuto.core.error import StorageTrouble
from tenuto.core.principal import Principal
from tenuto.ports.points import NOWHERE, Points, Step
from tenuto.ports.store import Sink
from tenuto.ports.view import View
from tenuto.storage.named import load_queries
from tenuto.storage.postgres.appender import Appender
from tenuto.storage.postgres.comparisons import PostgresComparisons
from tenuto.storage.postgres.connections import NO_STATEMENTS, STATEMENTS, Connections, connect
from tenuto.storage.postgres.deciding import Deciding
from tenuto.storage.postgres.desks import PostgresDesks
from tenuto.storage.postgres.families import PostgresFamilies
from tenuto.storage.postgres.lanes import Lanes
from tenuto.storage.postgres.library import PostgresLibrary
from tenuto.storage.postgres.lifeline import Lifeline
from tenuto.storage.postgres.migration import Durability, SchemaStep, prepare, shipped
from tenuto.storage.postgres.nodes import PostgresNodes
from tenuto.storage.postgres.outputs import PostgresOutputs
from tenuto.storage.postgres.parts import StoreParts
from tenuto.storage.postgres.places import PostgresFiles, PostgresPlaces, Shelf
from tenuto.storage.postgres.ringer import Ringer
from tenuto.storage.postgres.sequencer import Sequencer
from tenuto.storage.postgres.telling import Telling
from tenuto.storage.postgres.trouble import explained
from tenuto.storage.postgres.upkeep import PostgresUpkeep
from tenuto.storage.postgres.writes import Writes

READERS = 3
DECIDERS = 4


class PostgresStore(
    PostgresDesks,
    PostgresFamilies,
    PostgresLibrary,
    PostgresComparisons,
    PostgresPlaces,
    PostgresFiles,
    PostgresOutputs,
    PostgresNodes,
    PostgresUpkeep,
):
    """Everything in one database, which any number of nodes may share."""

    def __init__(
        self,
        url: str,
        sink: Sink,
        *,
        direct: str | None = None,
        name: str = "",
        durability: Durability = Durability.REQUIRED,
        migrations: Sequence[SchemaStep] | None = None,
        points: Points = NOWHERE,
    ) -> None:
        """`direct`: for what needs a line of its own, past a pooler. `name` is for those who look
        at PostgreSQL's list of connections."""
        self._url = url
        self._direct = direct or url
        self._name = f"tenuto {name}".strip()
        self._sink = sink
        self._durability = durability
        self._steps = shipped() if migrations is None else migrations
        self._points = points
        self._shelf = Shelf()
        self._tasks: list[asyncio.Task[None]] = []
        self._all: list[Connections] = []

    def seen_by(self, who: Principal) -> View:
        return self

    async def open(self) -> None:
        try:
            connection = await connect(self._direct, {"application_name": self._name})
        except Exception as error:
            raise explained(error) from error
        try:
            self._points.reach(Step.MIGRATING)
            await prepare(connection, self._steps, self._durability)
            self._points.reach(Step.MIGRATED)
            now = await connection.fetchval("SELECT clock_timestamp()")
        except Exception as error:
            raise explained(error) from error
        finally:
            connection.terminate()
        self._build()
        self._parts.writes.set_clock(now.timestamp())
        try:
            await self._lifeline.open()
        except Exception as error:
            await self.close()
            raise explained(error) from error
        for run in (self._parts.appender.run, self._parts.ringer.run, self._lifeline.run):
            self._tasks.append(asyncio.create_task(run()))

    async def close(self) -> None:
        """Write what waits and let go."""
        if not self._all:
            return
        await self._parts.deciding.stop()
        await self._parts.sequencer.stop()
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._parts.appender.stop()
        self._lifeline.close()
        connections, self._all = self._all, []
        for one in connections:
            await one.close()

    async def check(self) -> None:
        if not self._all:
            raise StorageTrouble("the store is not open")
        for (standby,) in await self._parts.writes.connections.fetch("SELECT pg_is_in_recovery()"):
            if standby:
                raise StorageTrouble("PostgreSQL is read-only: this is a standby")

    def _build(self) -> None:
        sql = load_queries("tenuto.storage.postgres")
        me = secrets.token_hex(6)
        reads = self._connections(self._url, READERS)
        deciders = self._connections(self._url, DECIDERS)
        appends = self._connections(self._url, 1)
        # A ring that is lost with the machine is no loss: whoever listens looks by itself.
        bells = self._connections(self._direct, 1, synchronous_commit="off")
        ringer = Ringer(bells, me, self._points)
        lanes, telling = Lanes(), Telling(self._sink, ringer)
        sequencer = Sequencer(reads, sql, telling, self._points)
        writes = Writes(deciders, sql, self._points)
        self._parts = StoreParts(
            sql,
            reads=reads,
            writes=writes,
            lanes=lanes,
            ringer=ringer,
            telling=telling,
            sequencer=sequencer,
            appender=Appender(appends, sql, lanes, telling, self._points),
            deciding=Deciding(writes, sql, lanes, telling, sequencer, self._points),
        )
        self._lifeline = Lifeline(
            self._direct,
            me,
            name=self._name,
            sql=sql,
            sink=self._sink,
            reads=reads,
            ringer=ringer,
            sequencer=sequencer,
            knows=self._steps[-1].number,
            points=self._points,
        )

    def _connections(self, url: str, size: int, **settings: str) -> Connections:
        known = STATEMENTS if url == self._direct else NO_STATEMENTS
        made = Connections(url, size=size, name=self._name, settings=settings, statements=known)
        self._all.append(made)
        return made
