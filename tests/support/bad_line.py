"""A bad network before a PostgreSQL: it cuts lines, before a statement or before its answer."""

import asyncio
from enum import StrEnum
from random import Random
from typing import Self

READ_BYTES = 65_536
DONE_SECONDS = 0.2
READY = b"Z\x00\x00\x00\x05"
"""How PostgreSQL ends an answer, but for one byte."""


class Fate(StrEnum):
    PASS = "pass"
    CUT = "cut"
    """The line ends, and what was sent never arrives."""
    DROP = "drop"
    """What was sent arrives and is done; the line ends before the answer comes back."""


class BadLine:
    """Each thing that is sent has a fate of its own, by lot or by order."""

    def __init__(self, port: int, random: Random) -> None:
        self._target = port
        self._random = random
        self._cut = self._drop = 0.0
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._open = asyncio.Event()
        self._open.set()
        self._ordered: list[tuple[bytes, Fate]] = []
        self.suffered: list[Fate] = []
        """What was done to whom, in order."""
        self.port = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self.flow()
        self.cut_all()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def url(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def order(self, fate: Fate, having: bytes) -> None:
        """The next thing that is sent and has these bytes in it suffers this."""
        self._ordered.append((having, fate))

    def misbehave(self, *, cut: float, drop: float) -> None:
        """From now on this share of what is sent suffers."""
        self._cut, self._drop = cut, drop

    def behave(self) -> None:
        self._cut = self._drop = 0.0

    def cut_all(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    def hold(self) -> None:
        """Let nothing through until `flow`."""
        self._open.clear()

    def flow(self) -> None:
        self._open.set()

    def _fate(self, data: bytes) -> Fate:
        for n, (having, fate) in enumerate(self._ordered):
            if having in data:
                del self._ordered[n]
                return fate
        draw = self._random.random()
        if draw < self._cut:
            return Fate.CUT
        return Fate.DROP if draw < self._cut + self._drop else Fate.PASS

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            from_server, to_server = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.transport.abort()
            self._tasks.discard(task)
            return
        self._writers |= {writer, to_server}
        dropping = asyncio.Event()
        try:
            await asyncio.gather(
                self._there(reader, to_server, dropping), self._back(from_server, writer, dropping)
            )
        except OSError:
            pass
        finally:
            self._writers -= {writer, to_server}
            self._tasks.discard(task)
            for end in (writer, to_server):
                end.transport.abort()

    async def _there(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, dropping: asyncio.Event
    ) -> None:
        while data := await reader.read(READ_BYTES):
            await self._open.wait()
            fate = self._fate(data)
            if fate is not Fate.PASS:
                self.suffered.append(fate)
            if fate is Fate.CUT:
                raise ConnectionResetError
            if fate is Fate.DROP:
                dropping.set()
            writer.write(data)
            await writer.drain()
        raise ConnectionResetError

    async def _back(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, dropping: asyncio.Event
    ) -> None:
        while data := await reader.read(READ_BYTES):
            await self._open.wait()
            if not dropping.is_set():
                writer.write(data)
                await writer.drain()
            else:
                # Once it is done: what was asked for is stored, and nobody is told.
                if READY not in data[-6:]:
                    await asyncio.sleep(DONE_SECONDS)
                raise ConnectionResetError
        raise ConnectionResetError
