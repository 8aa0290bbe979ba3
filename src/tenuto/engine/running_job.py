"""A job under way on this node: its process, what it prints, and who waits for more."""

import asyncio

import anyio

from tenuto.core.job import Job, JobEnding, JobPrint
from tenuto.engine.spool import Keep, Spool

TAIL_LINES = 12
TAIL_CHARACTERS = 1_500
BUFFER = 64_000
"""Characters at hand for whoever reads along; what came before is in the store."""
SECOND = 1.0
SLOWEST_SECONDS = 30.0
SLOWER_AFTER = 60
"""It is told once a second in its first minute, and ever more rarely: a log has to keep it all."""


class RunningJob:
    def __init__(self, job: Job, keep: Keep) -> None:
        self.job = job
        self.scope = anyio.CancelScope()
        self.cause: JobEnding | None = None
        """Why it was stopped; None: it was not."""
        self.spool = Spool(keep, pause=SECOND)
        self.gone = asyncio.Event()
        """Nothing of it runs, and its ending is stored or will never be."""
        self._news = asyncio.Event()
        self._buffer = ""
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()

    def stop(self, cause: JobEnding) -> None:
        """The first cause is the truth."""
        if self.cause is None:
            self.cause = cause
        self.scope.cancel()

    def hear(self, text: str) -> None:
        self.spool.add(text)
        self._buffer = (self._buffer + text)[-BUFFER:]
        self.wake()

    def wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def news(self) -> None:
        await self._news.wait()

    def since(self, after: int) -> tuple[int, str]:
        """What was printed after so many characters, as far as it is at hand, and its place."""
        first = self.spool.total - len(self._buffer)
        at = min(max(after, first), self.spool.total)
        return at, self._buffer[at - first :]

    def printed(self) -> JobPrint:
        lines = self._buffer[-TAIL_CHARACTERS:].splitlines(keepends=True)[-TAIL_LINES:]
        return JobPrint(tail="".join(lines), characters=self.spool.total)

    def pause(self) -> float:
        """Until it is told again what it prints."""
        elapsed = self._loop.time() - self._began
        return min(max(SECOND, elapsed / SLOWER_AFTER), SLOWEST_SECONDS)
