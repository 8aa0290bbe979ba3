"""MCP servers as `[[mcp]]` of the file writes them."""

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta

from tenuto.config.mistake import Mistakes
from tenuto.config.reading import read_list
from tenuto.config.secret import Secret
from tenuto.core.error import InvalidInput
from tenuto.core.mcp import CALL_SECONDS, McpServer
from tenuto.core.value import Value


class McpEntry(Value):
    name: Annotated[
        str,
        Meta(
            pattern=r"^[a-z0-9][a-z0-9_-]*$",
            title="lower-case letters, digits, dashes and underscores",
            description="Its tools are called `name__tool`.",
        ),
    ]
    command: Annotated[str, Meta(description="The program to start; or else `url`.")] = ""
    args: Annotated[tuple[str, ...], Meta(description="The program's arguments.")] = ()
    env: Annotated[
        dict[str, Secret], Meta(description="Variables that it gets besides the usual few.")
    ] = msgspec.field(default_factory=dict)
    url: Annotated[str, Meta(description="The address of a server that is reached by HTTP.")] = ""
    headers: Annotated[
        dict[str, Secret], Meta(description="Headers that every request carries.")
    ] = msgspec.field(default_factory=dict)
    tools: Annotated[
        tuple[str, ...],
        Meta(description="The only ones of its tools that are offered.", extra={"default": "all"}),
    ] = ()
    trust: Annotated[bool, Meta(description="Believe it when it says that a tool only looks.")] = (
        False
    )
    timeout: Annotated[
        float, Meta(ge=1, le=3600, description="Seconds that one call may take.")
    ] = CALL_SECONDS
    enabled: Annotated[bool, Meta(description="Whether it is used at all.")] = True


def file_servers(raw: object, source: str, mistakes: Mistakes) -> tuple[McpServer, ...]:
    """The servers of the file, in its order; what is wrong goes to `mistakes`."""
    entries = read_list(raw, McpEntry, "mcp", source, mistakes)
    names = [entry.name for entry in entries]
    for name in sorted({name for name in names if names.count(name) > 1}):
        mistakes.say(f"mcp ({source}): two are named {name}")
    made = (_server(entry, source, mistakes) for entry in entries)
    return tuple(server for server in made if server is not None)


def _server(entry: McpEntry, source: str, mistakes: Mistakes) -> McpServer | None:
    try:
        return McpServer(
            name=entry.name,
            command=entry.command,
            args=entry.args,
            env=_revealed(entry.env),
            url=entry.url,
            headers=_revealed(entry.headers),
            tools=entry.tools or None,
            trust=entry.trust,
            timeout=entry.timeout,
            enabled=entry.enabled,
        )
    except InvalidInput as error:
        mistakes.say(f"mcp.{entry.name} ({source}): {error}")
        return None


def _revealed(secrets: Mapping[str, Secret]) -> dict[str, str]:
    return {name: value.reveal() for name, value in secrets.items()}
