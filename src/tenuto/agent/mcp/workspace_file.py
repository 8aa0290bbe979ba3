"""`.mcp.json`: the servers that a workspace's own files ask for. Nothing in it counts before a person
has allowed it, as it is."""

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from tenuto.core.error import InvalidInput
from tenuto.core.mcp import McpServer
from tenuto.core.value import Value

NAME = ".mcp.json"
MOST_BYTES = 256_000
VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


class ServersFile(Value):
    hash: str
    servers: tuple[McpServer, ...] = ()
    error: str | None = None


class _Entry(Value):
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = msgspec.field(default_factory=dict)
    url: str = ""
    headers: dict[str, str] = msgspec.field(default_factory=dict)


class _File(Value):
    mcpServers: dict[str, _Entry]


def read(folder: Path, variables: Mapping[str, str]) -> ServersFile | None:
    """None if there is none. Variables are filled in as `${NAME}` and `${NAME:-else}`. Blocks."""
    try:
        # A link could lead to a file that is none of the workspace's.
        descriptor = os.open(folder / NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        body = os.read(descriptor, MOST_BYTES + 1)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    digest = hashlib.sha256(body).hexdigest()
    if len(body) > MOST_BYTES:
        return ServersFile(hash=digest, error=f"{NAME} is too large")
    try:
        entries = msgspec.json.decode(body, type=_File).mcpServers
        servers = tuple(
            _server(name, entry, variables)
            for name, entry in zip(_names(entries), entries.values(), strict=True)
        )
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, InvalidInput) as error:
        return ServersFile(hash=digest, error=f"{NAME} makes no sense: {error}")
    return ServersFile(hash=digest, servers=servers)


def _server(name: str, entry: _Entry, variables: Mapping[str, str]) -> McpServer:
    filled = _filled(msgspec.to_builtins(entry), variables)
    return msgspec.convert({**filled, "name": name}, McpServer)


def _names(given: Iterable[str]) -> list[str]:
    """Names as ours are, each once."""
    names: list[str] = []
    for name in given:
        plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:24].strip("_") or "server"
        number = sum(1 for one in names if one == plain or one.startswith(f"{plain}-"))
        names.append(f"{plain}-{number + 1}" if plain in names else plain)
    return names


def _filled(value: Any, variables: Mapping[str, str]) -> Any:
    match value:
        case str():
            return VARIABLE.sub(lambda one: variables.get(one[1], one[2] or ""), value)
        case list() | tuple():
            return [_filled(one, variables) for one in value]
        case dict():
            return {name: _filled(one, variables) for name, one in value.items()}
    return value
