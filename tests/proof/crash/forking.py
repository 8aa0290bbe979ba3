"""Loads the server's code once and forks a process for each order.

Loading takes longer than a whole scenario, and there are hundreds of processes. Each one is still a
process of its own, with nothing but code in common with the others.

It reads orders and writes notices as lines of JSON: `{"pid"}` for each birth, in the order of the
orders, and `{"pid", "code"}` for each death.
"""

import faulthandler
import gc
import os
import select
import signal
import sys

import msgspec

from tests.proof.crash.server_process import Order, live, prepare


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    pid: int
    code: int | None = None
    """How it ended, negative for a signal; None: it was born."""


def main() -> None:
    prepare()
    gc.collect()
    gc.freeze()
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    living: set[int] = set()
    rest = b""
    while True:
        ready, _, _ = select.select([0, wake], [], [])
        if wake in ready:
            os.read(wake, 4096)
            _bury(living)
        if 0 in ready:
            chunk = os.read(0, 65_536)
            if not chunk:
                break
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                living.add(_hatch(msgspec.json.decode(line, type=Order)))
    # Whoever gave the orders is gone, so nobody needs these any more.
    for pid in living:
        os.kill(pid, signal.SIGKILL)


def _hatch(order: Order) -> int:
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        _say(Notice(pid=pid))
        return pid
    code = 70
    try:
        _become(order)
        code = live(order)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _become(order: Order) -> None:
    """Forget the process that forked us: its pipes, its signals."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    log = os.open(f"{order.folder}/server.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for old, new in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(old, new)
    os.closerange(3, 256)
    faulthandler.enable()


def _bury(living: set[int]) -> None:
    while True:
        try:
            pid, how = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        living.discard(pid)
        _say(Notice(pid=pid, code=os.waitstatus_to_exitcode(how)))


def _say(notice: Notice) -> None:
    os.write(1, msgspec.json.encode(notice) + b"\n")


if __name__ == "__main__":
    main()
