"""Landlock: the kernel keeps a process and all that it starts to what it may touch.

Standard library only: the runner imports it, in a process of its own. Rules can only allow, and
what is allowed of a folder is allowed of all in it. So what is closed is left out by allowing all
that lies beside the way to it; the names in it can then be seen, and nothing of it opened.
"""

import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable, Iterator
from functools import cache

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
ASK_VERSION = 1
PATH_BENEATH = 1
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
MAKE_CHAR, MAKE_BLOCK, TRUNCATE = 1 << 6, 1 << 11, 1 << 14
LEAST_ABI = 3
"""Before it, files could be emptied that could not be written."""
HANDLED = (1 << 15) - 1
"""All rights over files up to that version."""
READING = READ_FILE | READ_DIR | EXECUTE
# Whoever may make the node of a disk reads all that is on it.
OWNING = HANDLED & ~(MAKE_CHAR | MAKE_BLOCK)
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
SCOPES_ABI = 6
SCOPES = 0b11
"""No signals to processes outside, and none of their nameless sockets."""
DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm")
GRAPHICS = ("dri", "kfd", "nvidia")
CLOSED_CAPABILITIES = (16, 17, 22, 38, 39)
"""Modules, raw memory, reboot, tracing and programs in the kernel: an administrator's ways round."""


def version() -> int:
    """Of Landlock in this kernel; 0: there is none."""
    if sys.platform != "linux":
        return 0
    return max(0, int(_libc().syscall(CREATE_RULESET, None, 0, ASK_VERSION)))


def ruleset(writable: Iterable[str], closed: Iterable[str]) -> int:
    """A descriptor of rules: write only here, read all but that. Raises OSError."""
    scoped = SCOPES if version() >= SCOPES_ABI else 0
    # Older kernels know a shorter one, and take a longer if the rest is zero.
    wanted = struct.pack("QQQ", HANDLED, 0, scoped)
    rules = _checked(_libc().syscall(CREATE_RULESET, wanted, len(wanted), 0))
    shut = {os.path.realpath(path) for path in closed} | {"/dev"}
    _allow(rules, "/", READ_DIR)
    for path in _beside("/", shut):
        _allow(rules, path, READING)
    for path in _devices():
        _allow(rules, path, OWNING)
    for path in writable:
        _allow(rules, path, OWNING)
    return rules


def restrict(rules: int) -> None:
    """Hold this process to them, for good. Raises OSError."""
    libc = _libc()
    for capability in CLOSED_CAPABILITIES:
        # Refused to all but an administrator, who alone has them.
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    _checked(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _checked(libc.syscall(RESTRICT_SELF, rules, 0))


def _beside(folder: str, shut: set[str]) -> Iterator[str]:
    """Everything below the folder that is not shut and leads to nothing that is."""
    try:
        entries = [entry.path for entry in os.scandir(folder) if not entry.is_symlink()]
    except OSError:
        # Whoever cannot look into it reads nothing in it either.
        return
    for path in entries:
        if path in shut:
            continue
        if any(one.startswith(f"{path}/") for one in shut):
            yield from _beside(path, shut)
        else:
            yield path


def _devices() -> Iterator[str]:
    """Those that everyone needs: a disk's, for one, would be a way to everything."""
    for name in _names("/dev"):
        if name in DEVICES or name.startswith(GRAPHICS):
            yield f"/dev/{name}"


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        # It has gone since, or is nobody's to open: then nothing is allowed of it.
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= OF_FILES
        rule = struct.pack("=Qi", rights, descriptor)
        _checked(_libc().syscall(ADD_RULE, rules, PATH_BENEATH, rule, 0))
    finally:
        os.close(descriptor)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
