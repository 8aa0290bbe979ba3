"""The link to the host process: started when it is needed, again if it died, ended when idle."""

import asyncio
import itertools
import logging
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Protocol

from tenuto.agent.mcp import message
from tenuto.agent.tools.processes.environment import without_secrets

log = logging.getLogger(__name__)

BEAT_SECONDS = 0.5
STOP_SECONDS = 6.0
"""Its programs get a second to leave, and the runner needs at most 3.3 to end a tree."""
CANCEL_SECONDS = 2.0
GONE = "the process that speaks with MCP servers has ended"


class Hearer(Protocol):
    """Who is told what becomes of one connection."""

    def hear(self, word: message.Words) -> None: ...


class LinkLost(Exception):
    """The host has died; everything that was asked of it is void."""


class RequestRefused(Exception):
    """The server could not do it; the message says why."""


class Link:
    """All connections go through one host; whoever opens one holds it until it is closed."""

    def __init__(self, *, patience: int = 0, idle_seconds: float = 60.0) -> None:
        self._patience = patience
        self._idle_seconds = idle_seconds
        self._process: Process | None = None
        self._starting = asyncio.Lock()
        self._numbers = itertools.count(1)
        self._ears: dict[int, Hearer] = {}
        self._answers: dict[int, asyncio.Future[message.Done | message.Failed]] = {}
        self._owners: dict[int, int] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._idle: asyncio.TimerHandle | None = None

    @property
    def pid(self) -> int | None:
        """Of the host; None while there is none."""
        return self._process.pid if self._process else None

    async def open(self, server: message.Program | message.Address, ear: Hearer) -> int:
        """Begin a connection; the ear hears of it until it is closed."""
        key = next(self._numbers)
        self._ears[key] = ear
        try:
            await self._up()
            self._send(message.Open(key=key, server=server))
        except BaseException:
            self._forget(key)
            raise
        return key

    def close(self, key: int) -> None:
        """Ask for its end; the ear hears when it has come."""
        if key in self._ears:
            self._send(message.Close(key=key))

    def tell(self, order: message.Order) -> None:
        self._send(order)

    async def ask(
        self, key: int, order: Callable[[int], message.Order], begun: Callable[[int], None]
    ) -> message.Done:
        """What came of a request; a cancel reaches the server's handler before it comes out.

        Raises LinkLost, and RequestRefused with a sentence.
        """
        if self._process is None or key not in self._ears:
            raise LinkLost
        number = next(self._numbers)
        answer: asyncio.Future[message.Done | message.Failed]
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        self._owners[number] = key
        try:
            begun(number)
            self._send(order(number))
            said = await answer
        except asyncio.CancelledError:
            await self._cancel(number, answer)
            raise
        finally:
            del self._answers[number], self._owners[number]
        if isinstance(said, message.Failed):
            raise RequestRefused(said.error)
        return said

    async def stop(self) -> None:
        """End the host with all it holds."""
        if self._idle is not None:
            self._idle.cancel()
        process = self._process
        if process is not None:
            await _end(process)
        for task in tuple(self._tasks):
            await asyncio.wait({task})

    async def _cancel(self, number: int, answer: "asyncio.Future[Any]") -> None:
        """Told, and waited for in vain for a while at most: the server may be deaf."""
        self._send(message.Cancel(id=number))
        await asyncio.wait({answer}, timeout=CANCEL_SECONDS)
        if answer.done() and not answer.cancelled():
            # Nobody asks any more what came of it.
            answer.exception()

    async def _up(self) -> None:
        async with self._starting:
            if self._idle is not None:
                self._idle.cancel()
                self._idle = None
            if self._process is not None:
                return
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "tenuto.agent.mcp.host"),
                *([str(self._patience)] if self._patience else []),
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                env=without_secrets(os.environ),
                limit=message.LONGEST_LINE,
                # Ctrl-C in our terminal is for us: we stop it after the runs have ended.
                start_new_session=True,
            )
            self._process = process
            self._spawn(self._listen(process))
            if self._patience:
                self._spawn(self._beat(process))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _listen(self, process: Process) -> None:
        assert process.stdout is not None
        try:
            with suppress(ValueError):
                while line := await process.stdout.readline():
                    self._hear(message.words.decode(line))
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
            await process.wait()
            self._lost(process)

    async def _beat(self, process: Process) -> None:
        while self._process is process:
            await asyncio.sleep(BEAT_SECONDS)
            self._send(message.Beat())

    def _hear(self, word: message.Words) -> None:
        match word:
            case message.Done(id=number) | message.Failed(id=number):
                answer = self._answers.get(number)
                if answer is not None and not answer.done():
                    answer.set_result(word)
            case message.Progressed(id=number):
                ear = self._ears.get(self._owners.get(number, 0))
                if ear is not None:
                    ear.hear(word)
            case message.Closed(key=key):
                ear = self._ears.get(key)
                self._forget(key)
                if ear is not None:
                    ear.hear(word)
            case _:
                ear = self._ears.get(word.key)
                if ear is not None:
                    ear.hear(word)

    def _lost(self, process: Process) -> None:
        if self._process is not process:
            return
        self._process = None
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(LinkLost())
        for key, ear in tuple(self._ears.items()):
            self._forget(key)
            ear.hear(message.Closed(key=key, error=GONE))

    def _forget(self, key: int) -> None:
        self._ears.pop(key, None)
        if not self._ears and self._process is not None and self._idle is None:
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(self._idle_seconds, self._rest)

    def _rest(self) -> None:
        """Nobody is spoken with: who needs it next starts it again."""
        self._idle = None
        process = self._process
        if not self._ears and process is not None:
            assert process.stdin is not None
            self._process = None
            process.stdin.close()

    def _send(self, order: message.Order) -> None:
        if self._process is None:
            return
        assert self._process.stdin is not None
        # What one that is dying does not read is void anyway.
        with suppress(ConnectionError, RuntimeError):
            self._process.stdin.write(message.line(order))


async def _end(process: Process) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
