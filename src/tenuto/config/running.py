"""Where the server of a data folder is, for commands on the same machine."""

import contextlib
import os
from pathlib import Path

import msgspec

from tenuto.core.value import Value

SERVER_FILE = "server.json"


class RunningServer(Value):
    url: str
    pid: int


def announce(data: Path, server: RunningServer) -> None:
    """Say where it is, to its owner alone, in one step."""
    path = data / SERVER_FILE
    made = data / f"{SERVER_FILE}.{server.pid}"
    with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(msgspec.json.encode(server))
    made.replace(path)


def withdraw(data: Path, pid: int) -> None:
    """Take back what this process announced, and nobody else's word."""
    found = _announced(data)
    if found is not None and found.pid == pid:
        (data / SERVER_FILE).unlink(missing_ok=True)


def running_server(data: Path) -> RunningServer | None:
    """The server on this data folder; None if there is none, or only the word of a dead one."""
    found = _announced(data)
    return found if found is not None and _lives(found.pid) else None


def _announced(data: Path) -> RunningServer | None:
    with contextlib.suppress(OSError, msgspec.DecodeError, msgspec.ValidationError):
        return msgspec.json.decode((data / SERVER_FILE).read_bytes(), type=RunningServer)
    return None


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
