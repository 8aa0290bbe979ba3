"""Several nodes on one machine behind one socket, and the parent that keeps them going."""

import ctypes
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable

import click

from tenuto.api.server import bind
from tenuto.config import Settings

log = logging.getLogger(__name__)

SIGNALS = {signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGALRM}
PR_SET_PDEATHSIG = 1
AGAIN_SECONDS = 1.0
"""Between a worker's unexpected end and its next beginning."""
FAILED = 1

Serve = Callable[[int, socket.socket, Callable[[], None]], int]
"""Serves as the worker of that number until told to stop, and says once that it is ready."""


def serve_many(settings: Settings, serve: Serve) -> int:
    """Run so many workers until told to stop; the exit code of the first that failed, or 0.

    One that ends is begun again, unless none was ever ready: what keeps all from starting is said
    once and ends them all.
    """
    # From here on signals are fetched, not delivered: nothing is missed, and nothing interrupts.
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    with bind(settings.host, settings.port) as listening:
        return _Parent(settings.workers, listening, serve).watch()


class _Parent:
    def __init__(self, workers: int, listening: socket.socket, serve: Serve) -> None:
        self._listening = listening
        self._serve = serve
        self._heard, self._told = os.pipe()
        """Where a worker says that it is ready."""
        for end in (self._heard, self._told):
            os.set_blocking(end, False)
        self._process = os.getpid()
        self._was_ready = False
        self._stopping = False
        self._code = 0
        self._numbers: dict[int, int] = {}
        """The number of each worker by its process."""
        self._due: dict[int, float] = dict.fromkeys(range(1, workers + 1), 0.0)
        """When to begin which worker."""

    def watch(self) -> int:
        while self._numbers or (self._due and not self._stopping):
            now = time.monotonic()
            for number in [n for n, at in self._due.items() if at <= now and not self._stopping]:
                del self._due[number]
                self._begin(number)
            self._hear(min(self._due.values(), default=now + AGAIN_SECONDS) - now)
            self._bury()
        return self._code

    def _hear(self, seconds: float) -> None:
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.01))
        if signal.sigwait(SIGNALS) in (signal.SIGTERM, signal.SIGINT):
            # Passed on as often as it comes: the second one tells a worker to hurry.
            self._stop()

    def _stop(self) -> None:
        self._stopping = True
        for process in self._numbers:
            os.kill(process, signal.SIGTERM)

    def _bury(self) -> None:
        self._was_ready = self._was_ready or _has_spoken(self._heard)
        for process in [*self._numbers]:
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                self._ended(self._numbers.pop(process), os.waitstatus_to_exitcode(status))

    def _ended(self, number: int, code: int) -> None:
        if self._stopping:
            self._code = self._code or max(code, 0)
            return
        if not self._was_ready:
            self._code = code if code > 0 else FAILED
            self._stop()
            return
        click.echo(f"tenuto: worker {number} ended ({code}) and is started again", err=True)
        self._due[number] = time.monotonic() + AGAIN_SECONDS

    def _begin(self, number: int) -> None:
        process = os.fork()
        if process:
            self._numbers[process] = number
            return
        code = FAILED
        try:
            code = self._work(number)
        except SystemExit as asked:
            code = asked.code if isinstance(asked.code, int) else FAILED
        except BaseException:
            logging.getLogger(__name__).exception("worker %s broke", number)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            # Not `exit`: what the parent has set up is the parent's to clear away.
            os._exit(code)

    def _work(self, number: int) -> int:
        # A terminal's Ctrl-C goes to the parent alone, which passes it on.
        os.setpgid(0, 0)
        end_with_parent(self._process)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        return self._serve(number, self._listening, lambda: _speak(self._told))


def end_with_parent(process: int) -> None:
    """A worker whose parent was killed stops as if it had been told to."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != process:
        raise SystemExit(FAILED)


def _speak(pipe: int) -> None:
    try:
        os.write(pipe, b".")
    except BlockingIOError:
        # It is full: so many have said so that nobody needs to hear it again.
        return


def _has_spoken(pipe: int) -> bool:
    try:
        return bool(os.read(pipe, 1024))
    except BlockingIOError:
        return False
