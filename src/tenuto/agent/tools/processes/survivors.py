"""Finds what a command left behind after its runner was killed, and ends it.

Every process of a command carries a mark that it cannot take off: a value of its own for the
limit on file locks, which the kernel hands on to each child and lets nobody raise, and which has
meant nothing since Linux 2.4. A new session, an empty environment or a lost parent change nothing
about it. One that lowers the limit is known by that, if it has come to us as its nearest reaper.
"""

import os
import resource
import secrets
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

LOCKS = 10
"""RLIMIT_LOCKS; Python has no name for it."""
LINE = b"Max file locks"
HIGH = 1 << 62
"""So high that no person sets it."""
READ_BYTES = 8192
END_SECONDS = 3.0
"""Far more than it takes, unless the machine is busy and they fork all the time."""
LOOK_SECONDS = 0.005


def new_mark() -> int:
    """A limit that no other command has; 0 where there is none to be had."""
    if not Path("/proc/self/limits").exists():
        return 0
    own = resource.getrlimit(LOCKS)[1]
    if own == resource.RLIM_INFINITY:
        return HIGH + secrets.randbits(61)
    # A server in a command of another server: ours must be below.
    return max(0, own - 1 - secrets.randbits(40))


def end_marked(mark: int) -> None:
    """End every process that carries the mark; those that fork away all the time, too."""
    search = Search(mark)
    until = time.monotonic() + END_SECONDS
    while time.monotonic() < until:
        frozen: set[int] = set()
        # One that is stopped starts no other behind our back.
        while search.stop_others(frozen) and time.monotonic() < until:
            continue
        _send(frozen, signal.SIGKILL)
        if not any(map(_lives, frozen)):
            return
        time.sleep(LOOK_SECONDS)


class Search:
    """Looks through all processes; those that are nobody's of ours are looked at once."""

    def __init__(self, mark: int) -> None:
        self._us = os.getpid()
        self._mark = b"%d" % mark
        self._own = _limit(self._us)
        self._strangers: set[int] = set()

    def stop_others(self, frozen: set[int]) -> bool:
        """Stop each marked process that is not frozen yet, the moment that it is found.

        True: look again, for there were some, or one was gone before it could be judged.
        """
        again = False
        listed = {int(name) for name in os.listdir("/proc") if name.isdigit()}
        for pid in listed - self._strangers - frozen:
            limit = _limit(pid)
            if limit == self._own:
                self._strangers.add(pid)
            elif limit is None:
                again = True
            elif limit == self._mark or _stat(pid)[1] == self._us:
                _send((pid,), signal.SIGSTOP)
                frozen.add(pid)
                again = True
        return again


def _lives(pid: int) -> bool:
    """Whether it is more than a name; one that is dead and has come to us is buried."""
    state, parent = _stat(pid)
    if state == b"Z" and parent == os.getpid():
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    return state not in (b"Z", b"X", b"")


def _limit(pid: int) -> bytes | None:
    start = (text := _read(f"/proc/{pid}/limits")).find(LINE)
    return text[start + len(LINE) :].split(None, 2)[1] if start >= 0 else None


def _stat(pid: int) -> tuple[bytes, int]:
    """Its state and its parent."""
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split(None, 2)
    return (fields[0], int(fields[1])) if fields else (b"", 0)


def _read(path: str) -> bytes:
    # Not by `open`: who forks away all the time must be met within one short life.
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(descriptor, READ_BYTES)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _send(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
