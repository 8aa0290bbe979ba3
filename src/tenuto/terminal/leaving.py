"""Leaving before the run has ended: signals, a closed output, a time limit."""

import asyncio
import os
import signal
import stat
from collections.abc import Coroutine
from typing import Any, TypeVar

from tenuto.terminal.exits import ExitCode, Leave
from tenuto.terminal.out import STDOUT, note

T = TypeVar("T")
SIGNALS = {
    signal.SIGINT: (ExitCode.CANCELLED, "Ctrl-C"),
    signal.SIGTERM: (ExitCode.TERMINATED, "SIGTERM"),
}


class Leaving:
    """Hears what asks this command to end; the first one counts, a second signal ends it at once."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.code = ExitCode.CANCELLED
        self.why = ""
        self.run_id = ""
        """What goes on without us after a SIGHUP; empty: nothing is known to."""

    def listen(self) -> None:
        loop = asyncio.get_running_loop()
        for number, (code, why) in SIGNALS.items():
            # `nohup` and shells that put us into the background have their reasons.
            if signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, self._signalled, code, why)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            loop.add_signal_handler(signal.SIGHUP, self._hung_up)
        if _is_pipe(STDOUT):
            # The writing end of a pipe is never readable, but for the news that nobody reads it.
            loop.add_reader(STDOUT, self.stdout_closed)

    def ask(self, code: ExitCode, why: str) -> None:
        if not self.asked.is_set():
            self.code, self.why = code, why
            self.asked.set()

    def stdout_closed(self) -> None:
        asyncio.get_running_loop().remove_reader(STDOUT)
        self.ask(ExitCode.CANCELLED, "nobody reads standard output any more")

    async def unless_asked(self, work: Coroutine[Any, Any, T], *, grace_seconds: float) -> T:
        """The work's result; asked to leave, it gets this long to come, then Leave is raised."""
        working = asyncio.ensure_future(work)
        asked = asyncio.ensure_future(self.asked.wait())
        try:
            await asyncio.wait({working, asked}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                await asyncio.wait({working}, timeout=grace_seconds)
            if working.done():
                return working.result()
            raise Leave(self.code, f"left: {self.why}")
        finally:
            working.cancel()
            asked.cancel()

    def _signalled(self, code: ExitCode, why: str) -> None:
        if self.asked.is_set():
            os._exit(code)
        self.ask(code, why)

    def _hung_up(self) -> None:
        if self.run_id:
            note(f"the terminal is gone; run {self.run_id} goes on")
        os._exit(ExitCode.NO_SERVER)


def _is_pipe(descriptor: int) -> bool:
    try:
        return stat.S_ISFIFO(os.fstat(descriptor).st_mode)
    except OSError:
        return False
