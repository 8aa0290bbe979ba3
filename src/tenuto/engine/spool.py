"""A spool keeps what a tool or a job prints, in the store, while it is printed.

Short outputs are in the log as they are; of a long one the log has only some. What is kept survives
whoever printed it, and every node can read it.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import anyio

from tenuto.core.error import NotFound, StorageTrouble
from tenuto.core.output import HEAD, TAIL, OutputPiece
from tenuto.core.text import whole

log = logging.getLogger(__name__)

PIECE = 256_000
"""Characters in one write: others wait behind it."""
ROW = 16_000
"""Small pieces are put together until they are as long as that."""
PAUSE_SECONDS = 1.0
RETRY_SECONDS = 0.5
TRIES = 10
CLOSE_SECONDS = 2.0
"""For the last of an output, also if the call was stopped: whoever stopped it waits."""

Keep = Callable[[OutputPiece, tuple[int, int]], Awaitable[None]]


class CallSpool:
    """What one call prints, kept if it is long."""

    def __init__(self, keep: Keep) -> None:
        self._keep = keep
        self._spool: Spool | None = None

    def open(self, beyond: int) -> "Spool":
        self._spool = Spool(self._keep, beyond=beyond)
        return self._spool

    async def close(self) -> int:
        """How many characters are kept; 0 if it was short, or could not be."""
        if self._spool is None:
            return 0
        kept = False
        with anyio.move_on_after(CLOSE_SECONDS, shield=True):
            kept = await self._spool.close()
        self._spool.abandon()
        return self._spool.total if kept else 0


class Spool:
    def __init__(self, keep: Keep, *, beyond: int = 0, pause: float = 0.0) -> None:
        """Nothing is kept of an output that is not longer than `beyond`; `pause` is the time
        between two writes, until the last."""
        self._keep = keep
        self._beyond = beyond
        self._pause = pause
        self.total = 0
        """Characters that were printed."""
        self._waiting: list[str] = []
        self._size = 0
        self._row = OutputPiece(at=0, text="")
        self._news = asyncio.Event()
        self._closing = asyncio.Event()
        self._writer: asyncio.Task[None] | None = None
        self.broken = False
        """Something of it could not be kept."""

    def add(self, text: str) -> None:
        """Take more of it. Memory is bounded, however fast it comes."""
        if not (text := whole(text)):
            return
        self._waiting.append(text)
        self._size += len(text)
        self.total += len(text)
        while self._size - len(self._waiting[0]) > TAIL and self.total - self._size >= HEAD:
            self._size -= len(self._waiting.pop(0))
        if self.total > self._beyond:
            self._news.set()
            if self._writer is None:
                self._writer = asyncio.create_task(self._write(), name="spool")

    async def close(self) -> bool:
        """Write what waits; whether it is all there to be read."""
        self._closing.set()
        self._news.set()
        if self._writer is not None:
            await self._writer
        return self._writer is not None and not self.broken

    def abandon(self) -> None:
        if self._writer is not None:
            self._writer.cancel()

    async def _write(self) -> None:
        while True:
            self._news.clear()
            while self._waiting and not self.broken:
                await self._write_piece()
                # Beyond what is kept whole, whoever prints without end gets a little at a time.
                is_flood = self.total > HEAD + TAIL
                await self._rest(PAUSE_SECONDS if is_flood else 0.0)
            if self._closing.is_set() or self.broken:
                return
            await self._rest(self._pause)
            if not self._waiting and not self._closing.is_set():
                await self._news.wait()

    async def _rest(self, seconds: float) -> None:
        if seconds and not self._closing.is_set():
            with anyio.move_on_after(seconds):
                await self._closing.wait()

    async def _write_piece(self) -> None:
        at = self.total - self._size
        text = "".join(self._waiting)
        piece, rest = text[:PIECE], text[PIECE:]
        self._waiting, self._size = ([rest] if rest else []), len(rest)
        follows = self._row.at + len(self._row.text) == at
        if follows and len(self._row.text) + len(piece) <= ROW:
            self._row = OutputPiece(at=self._row.at, text=self._row.text + piece)
        else:
            self._row = OutputPiece(at=at, text=piece)
        await self._insist(self._row, (HEAD, max(HEAD, at - TAIL)))

    async def _insist(self, piece: OutputPiece, forget: tuple[int, int]) -> None:
        for _ in range(TRIES):
            try:
                await self._keep(piece, forget)
                return
            except NotFound:
                break
            except StorageTrouble as trouble:
                log.warning("an output cannot be kept, trying again: %s", trouble)
                await asyncio.sleep(RETRY_SECONDS)
        self.broken = True
