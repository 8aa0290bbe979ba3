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
END_SECONDS = 0.9
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
    if not mark:
        return
    search = Search(mark)
    until = time.monotonic() + END_SECONDS
    while time.monotonic() < until:
        frozen: set[int] = set()
        # One that is stopped starts no other behind our back.
        while new := search.living() - frozen:
            _send(new, signal.SIGSTOP)
            frozen |= new
        _send(frozen, signal.SIGKILL)
        if not frozen:
            return
        time.sleep(LOOK_SECONDS)


class Search:
    """Looks through all processes; those that are nobody's of ours are looked at once."""

    def __init__(self, mark: int) -> None:
        self._mark = b"%d" % mark
        self._own = _limit(os.getpid())
        self._strangers: set[int] = set()

    def living(self) -> set[int]:
        """The marked ones that are not dead; dead ones that came to us are buried."""
        found = set()
        for pid in {int(name) for name in os.listdir("/proc") if name.isdigit()} - self._strangers:
            limit = _limit(pid)
            if limit == self._own:
                self._strangers.add(pid)
            elif limit is not None and self._is_ours(pid, limit):
                found.add(pid)
        return found

    def _is_ours(self, pid: int, limit: bytes) -> bool:
        state, parent = _stat(pid)
        ours = parent == os.getpid()
        if limit != self._mark and not ours:
            return False
        if ours and state == b"Z":
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        return state not in (b"Z", b"X", b"")


def _limit(pid: int) -> bytes | None:
    try:
        lines = Path(f"/proc/{pid}/limits").read_bytes().splitlines()
    except OSError:
        return None
    return next((line.split()[4] for line in lines if line.startswith(LINE)), None)


def _stat(pid: int) -> tuple[bytes, int]:
    """Its state and its parent."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return fields[0], int(fields[1])
    except OSError:
        return b"", 0


def _send(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
