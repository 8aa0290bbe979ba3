"""Runs one command and sees to it that nothing of it is left: a program of its own.

Standard library only, so that it starts fast. Its standard input is the leash: first it brings
the order (a length in four bytes, then with zero bytes between them: a key, a mark, a folder, how
many paths are writable and how many closed, how many seconds a silent server is borne, the two
descriptors that the command is spoken with through (0 and 0: it hears nothing), those
paths, and the command's arguments; with none there is no sandbox), and when it closes, for whatever
reason, every descendant is ended before this process ends; so it is when a server that stands still
has not beaten for so long (0 seconds: it need not). Standard output becomes the command's output and errors,
or only its errors if it is spoken with; standard error carries the report, signed with the key: `nowhere ERRNO`, `unsafe ERRNO` if the sandbox cannot be had, or
`started PID` and then `ended STATUS LEFT` or `stopped LEFT`.

Descendants that leave their session or lose their parent come back to us, because we are their
subreaper; so the tree under us is complete whatever they do. Where the system has no such thing,
the command's process group is ended instead. Each carries the mark (see `survivors.py`), in case
someone kills us. The sandbox is the command's alone: nothing in it could end what it holds.
"""

import ctypes
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tenuto.agent.tools.processes import landlock
else:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import landlock

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
ASK_SECONDS = 0.3
END_SECONDS = 3.0
LOOK_SECONDS = 0.01
PARENT_LOOK_MILLISECONDS = 1000
LOCKS = 10
"""RLIMIT_LOCKS; Python has no name for it."""
STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main() -> None:
    # So that the command, which is the same user, cannot open our pipes through /proc.
    prctl(PR_SET_DUMPABLE, 0)
    server = os.getppid()
    order = read_order()
    if order is None:
        return
    key, mark, folder, counts, *rest = order
    writable, closed, patience, hears, says = map(int, counts.split())
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        os.chdir(folder)
    except OSError as error:
        return report(key, f"nowhere {error.errno}")
    try:
        rules = walls(rest[:writable], rest[writable:][:closed])
    except OSError as error:
        return report(key, f"unsafe {error.errno}")
    wake = hear_signals()
    command = start(rest[writable + closed :], int(mark), rules, (hears, says))
    # Whoever speaks with it shall notice its end, also while we are still here.
    for descriptor in filter(None, (hears, says)):
        os.close(descriptor)
    report(key, f"started {command}")
    status = watch(command, wake, server, patience)
    left = end_all(command)
    report(key, f"stopped {left}" if status is None else f"ended {status} {left}")


def read_order() -> list[bytes] | None:
    """What to run, or None if the leash was closed first: then nothing is started."""
    size = read_exactly(4)
    body = read_exactly(int.from_bytes(size, "big")) if size else None
    return body.split(b"\0") if body else None


def read_exactly(size: int) -> bytes | None:
    got = b""
    while len(got) < size:
        piece = os.read(0, size - len(got))
        if not piece:
            return None
        got += piece
    return got


def walls(writable: list[bytes], closed: list[bytes]) -> int | None:
    """A descriptor of what holds the command, if anything shall. Raises OSError."""
    if not writable:
        return None
    return landlock.ruleset(map(os.fsdecode, writable), map(os.fsdecode, closed))


def hear_signals() -> int:
    """A descriptor that gives the number of each signal that comes."""
    wake, sound = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(sound, False)
    signal.set_wakeup_fd(sound, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, *STOPS):
        signal.signal(number, lambda *_: None)
    return wake


def start(arguments: list[bytes], mark: int, rules: int | None, spoken: tuple[int, int]) -> int:
    us = os.getpid()
    command = os.fork()
    if command:
        return command
    try:
        os.setsid()
        # If someone kills us, at least the command's first process goes too.
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == us:
            if mark:
                resource.setrlimit(LOCKS, (mark, mark))
            hears, says = spoken
            os.dup2(hears or os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(1, 2)
            if says:
                os.dup2(says, 1)
            for descriptor in filter(None, spoken):
                os.close(descriptor)
            for number in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            if rules is not None:
                landlock.restrict(rules)
            os.execv(arguments[0], arguments)
    finally:
        os._exit(127)


def watch(command: int, wake: int, server: int, patience: int) -> int | None:
    """The command's exit status (negative: a signal), or None if it was told to stop."""
    poll = select.poll()
    poll.register(0, select.POLLIN)
    poll.register(wake, select.POLLIN)
    heard = time.monotonic()
    while True:
        status = reap(command)
        if status is not None:
            return status
        ready = [descriptor for descriptor, _ in poll.poll(PARENT_LOOK_MILLISECONDS)]
        # The parent is looked at too: a process that inherited the other end of the leash would
        # keep it open.
        if os.getppid() != server:
            return None
        if 0 in ready:
            if not os.read(0, 512):
                return None
            heard = time.monotonic()
        # Others may have taken over what a server does that stands still: see `engine/heart`.
        if patience and time.monotonic() > heard + patience:
            return None
        if wake in ready and set(os.read(wake, 512)) & set(STOPS):
            return None


def reap(command: int) -> int | None:
    """Bury every dead child; the command's exit status if it was among them."""
    status = None
    while True:
        try:
            pid, how = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if pid == 0:
            return status
        if pid == command:
            status = os.waitstatus_to_exitcode(how)


def end_all(command: int) -> int:
    """End every descendant, the deaf ones too; return how many there were."""
    if not have_children():
        return 0
    if not os.path.exists("/proc/self/stat"):
        return end_group(command)
    started = time.monotonic()
    met = descendants(set(), set())
    send(met, signal.SIGTERM)
    send(met, signal.SIGCONT)
    while have_children() and time.monotonic() < started + ASK_SECONDS:
        time.sleep(LOOK_SECONDS)
    until = started + END_SECONDS
    while have_children() and time.monotonic() < until:
        frozen = freeze_all(until)
        send(frozen, signal.SIGKILL)
        met |= frozen
        time.sleep(LOOK_SECONDS)
    return len(met)


def freeze_all(until: float) -> set[int]:
    """Stop all descendants: one that is stopped starts no other behind our back.

    We look again at once as long as there are new ones, and only at what we have not judged yet:
    a process that forks away and dies, over and over, must be met within one such life.
    """
    frozen: set[int] = set()
    strangers: set[int] = set()
    while have_children() and time.monotonic() < until:
        new = descendants(frozen, strangers)
        if not new:
            break
        send(new, signal.SIGSTOP)
        frozen |= new
    return frozen


def end_group(command: int) -> int:
    try:
        os.killpg(command, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return 0
    return 1


def have_children() -> bool:
    reap(0)
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def descendants(known: set[int], strangers: set[int]) -> set[int]:
    """Everything below us that is not known yet; who is none of ours is added to the strangers.

    What looks dead counts: its other threads may still run. Who has lost a parent while we were
    reading is neither, until the next look.
    """
    us = os.getpid()
    listed = {int(name) for name in os.listdir("/proc") if name.isdigit()} - known - strangers
    parents = {pid: parent for pid in listed if (parent := parent_of(pid)) is not None}
    found = set()
    for pid in parents:
        top = top_of(pid, parents, us)
        if top == us or top in known:
            found.add(pid)
        elif top == 0 or top in strangers:
            strangers.add(pid)
    return found - {us}


def top_of(pid: int, parents: dict[int, int], us: int) -> int:
    """The last one that we know of on the way up, or us."""
    for _ in parents:
        if pid == us or pid not in parents:
            break
        pid = parents[pid]
    return pid


def parent_of(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


def send(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def report(key: bytes, line: str) -> None:
    # Never waits: someone may have filled the pipe, and then the server ends us.
    os.set_blocking(2, False)
    try:
        os.write(2, key + b" " + line.encode() + b"\n")
    except (BrokenPipeError, BlockingIOError):
        # There is nobody to tell, and the work is done all the same.
        return


if __name__ == "__main__":
    main()
