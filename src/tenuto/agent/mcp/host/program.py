"""A server that is a program: started by the runner, so that nothing of it is left, and spoken with
through two pipes."""

import asyncio
import os
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from msgspec.structs import replace

from tenuto.agent.tools.processes.tree import Command, Lost, Unsafe, run

LONGEST_LINE = 64_000_000
LEAVE_SECONDS = 1.0
LAST_LINES = 3
LINE_CHARACTERS = 500

Streams = tuple[
    MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]
]


class Ended:
    """How a program came to its end, and its last words."""

    def __init__(self) -> None:
        self.happened = asyncio.Event()
        self.hung_up = asyncio.Event()
        self._said: deque[str] = deque(maxlen=LAST_LINES)
        self._rest = ""
        self._how = ""
        self._began = False

    def hang_up(self, how: str) -> None:
        """It is over, though no program has ended."""
        self._how = how
        self.hung_up.set()
        self.happened.set()

    def hear(self, data: bytes) -> None:
        """What it says on its standard error."""
        *lines, rest = (self._rest + data.decode(errors="replace")).split("\n")
        self._said += [line.strip()[:LINE_CHARACTERS] for line in lines if line.strip()]
        self._rest = rest[-LINE_CHARACTERS:]

    async def life(self, command: Command) -> None:
        self._began = True
        try:
            ended = await run(command, self.hear)
            self._how = (
                f"it was ended by signal {-ended.status}"
                if ended.status is not None and ended.status < 0
                else f"it ended with exit code {ended.status}"
            )
        except Lost:
            self._how = "it was ended by someone else"
        except Unsafe as trouble:
            self._how = f"there is no sandbox for it ({trouble})"
        except OSError as trouble:
            self._how = f"its folder cannot be entered: {trouble.strerror}"
        finally:
            self.hung_up.set()
            self.happened.set()

    async def words(self) -> str | None:
        """Why the program is over; None if it is not, or if we ended it."""
        if self._began or self.hung_up.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(LEAVE_SECONDS):
                    await self.happened.wait()
        if not self._how:
            return None
        said = " · ".join([*self._said, *([self._rest.strip()] if self._rest.strip() else [])])
        return f"{self._how}: {said}" if said else self._how


@asynccontextmanager
async def speaking(command: Command, ended: Ended) -> AsyncIterator[Streams]:
    """The program's messages, and a way to send it some."""
    hears, ours_out = os.pipe()
    ours_in, says = os.pipe()
    spoken = replace(command, inherited=(hears, says), speaks=(hears, says))
    life = asyncio.create_task(ended.life(spoken))
    try:
        try:
            async with _piped(ours_in, ours_out, ended) as streams:
                yield streams
        finally:
            # A server that is well-behaved leaves when nobody speaks with it any more.
            with anyio.CancelScope(shield=True):
                await asyncio.wait({life}, timeout=LEAVE_SECONDS)
    finally:
        life.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait({life})


@asynccontextmanager
async def _piped(ours_in: int, ours_out: int, ended: Ended) -> AsyncIterator[Streams]:
    """Lines of the two pipes as messages; the one to the program is closed at the end."""
    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader(limit=LONGEST_LINE)
    reading, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(lines), os.fdopen(ours_in, "rb")
    )
    pipe, flow = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(ours_out, "wb")
    )
    writing = asyncio.StreamWriter(pipe, flow, None, loop)
    to_us, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, to_it = anyio.create_memory_object_stream[SessionMessage](0)

    async def hear() -> None:
        async with to_us:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ValueError):
                while line := await lines.readline():
                    if line.strip():
                        await to_us.send(_parsed(line))
            ended.hung_up.set()

    async def say() -> None:
        async with to_it:
            # One that has closed its input has ended, or soon will.
            with suppress(ConnectionError):
                async for message in to_it:
                    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    writing.write(text.encode() + b"\n")
                    await writing.drain()

    try:
        async with anyio.create_task_group() as group:
            group.start_soon(hear)
            group.start_soon(say)
            try:
                yield incoming, outgoing
            finally:
                group.cancel_scope.cancel()
    finally:
        writing.close()
        reading.close()


def _parsed(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error
