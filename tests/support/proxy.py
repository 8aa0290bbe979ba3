"""A bad network before one server or several: it cuts, delays, half-closes, refuses, loses answers."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from random import Random
from typing import Self

READ_BYTES = 65_536


class Link:
    """One connection through the proxy."""

    def __init__(self, client: asyncio.StreamWriter, server: asyncio.StreamWriter) -> None:
        self.client = client
        self.server = server

    def cut(self) -> None:
        """Both ends lose the connection at once; what was on its way is lost."""
        for writer in (self.client, self.server):
            writer.transport.abort()

    def close_half(self, side: asyncio.StreamWriter) -> None:
        """One end is told that the other will say no more; the other learns nothing."""
        with suppress(OSError, RuntimeError):
            if side.can_write_eof() and not side.is_closing():
                side.write_eof()


class Proxy:
    """Listens in `async with`; each connection goes to one of the servers, by lot.

    A server that takes no connections is passed over, as a balancer would.
    """

    def __init__(self, ports: Sequence[int], random: Random, *, port: int = 0) -> None:
        self._targets = tuple(ports)
        self._random = random
        self._links: set[Link] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._open = asyncio.Event()
        self._open.set()
        self.refusing = False
        self.mute = False
        """Whether what servers say is lost, while all that they are told still arrives."""
        self.port = port

    async def __aenter__(self) -> Self:
        held = self.port != 0  # By the caller, so that nobody else is given it.
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", self.port, backlog=2048, reuse_port=held
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self.cut(1.0)
        self.flow()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self, share: float) -> int:
        """Cut this share of the connections; how many."""
        chosen = self._choose(share)
        for link in chosen:
            link.cut()
        return len(chosen)

    def close_half(self, share: float) -> int:
        chosen = self._choose(share)
        for link in chosen:
            link.close_half(self._random.choice([link.client, link.server]))
        return len(chosen)

    def hold(self) -> None:
        """Let nothing through until `flow`."""
        self._open.clear()

    def flow(self) -> None:
        self._open.set()

    def _choose(self, share: float) -> list[Link]:
        return [link for link in self._links if self._random.random() < share]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            # Only `__aexit__` cancels it, and asyncio would complain of a handler that was.
            with suppress(asyncio.CancelledError):
                await self._link(reader, writer)
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _link(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refusing:
            return
        found = await self._server_by_lot()
        if found is None:
            return
        from_server, to_server = found
        link = Link(writer, to_server)
        self._links.add(link)
        try:
            await asyncio.gather(
                self._pump(reader, to_server), self._pump(from_server, writer, answers=True)
            )
        finally:
            self._links.discard(link)
            link.cut()

    async def _server_by_lot(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        for port in self._random.sample(self._targets, k=len(self._targets)):
            with suppress(OSError):
                return await asyncio.open_connection("127.0.0.1", port)
        return None

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, answers: bool = False
    ) -> None:
        try:
            while data := await reader.read(READ_BYTES):
                await self._open.wait()
                if answers and self.mute:
                    continue
                writer.write(data)
                await writer.drain()
            writer.write_eof()
        except (OSError, RuntimeError):
            writer.transport.abort()
