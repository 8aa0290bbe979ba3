"""MCP servers: what they offer, how they stand, and who looks after them."""

from typing import Any, Protocol

import msgspec

from tenuto.core.mcp import McpServer, McpSource, McpState, McpTransport
from tenuto.core.session import Workspace
from tenuto.core.value import Value, WorkspaceId


class McpOffer(Value):
    """One tool of a server, as it describes it."""

    name: str
    about: str = ""
    parameters: dict[str, Any] = msgspec.field(default_factory=dict)
    only_looks: bool = False
    """What it says of itself; whether it is believed is the server's `trust`."""


class McpArgument(Value):
    name: str
    about: str = ""
    required: bool = False


class McpPrompt(Value):
    name: str
    about: str = ""
    arguments: tuple[McpArgument, ...] = ()


class McpResource(Value):
    uri: str
    name: str = ""
    about: str = ""
    media_type: str = ""


class McpListing(Value):
    """All that a server offers."""

    tools: tuple[McpOffer, ...] = ()
    prompts: tuple[McpPrompt, ...] = ()
    resources: tuple[McpResource, ...] = ()


class McpSheet(Value):
    """What is remembered of a server between its lives."""

    listing: McpListing | None = None
    """None: it has never said what it offers."""
    login: str = ""
    """What signing in has given, for the one who speaks with it. Secret."""

    def __repr__(self) -> str:
        return "McpSheet(…)"


class McpStanding(Value):
    """A server, and how it stands here and now."""

    server: McpServer
    source: McpSource
    state: McpState
    error: str | None = None
    listing: McpListing = McpListing()
    login_url: str | None = None
    """Where a person signs in; None: nobody needs to."""

    @property
    def transport(self) -> McpTransport:
        return self.server.transport


class McpFile(Value):
    """The `.mcp.json` of a workspace's folder."""

    hash: str
    """Of the file as it is; it is allowed as it is, or not at all."""
    allowed: bool
    error: str | None = None
    """Why it makes no sense; None if it does."""


class McpOverview(Value):
    """How all servers stand, and the file of a workspace that some of them are of."""

    servers: tuple[McpStanding, ...]
    file: McpFile | None = None
    """None: no workspace was asked for, its folder has none, or it is not on this node."""


class McpContent(Value):
    """A resource, read."""

    name: str
    media_type: str
    content: bytes


class McpReturn(Value):
    """A person who came back from signing in."""

    state: str
    """By which the one that sent them away knows them."""
    code: str
    issuer: str | None = None

    def __repr__(self) -> str:
        return "McpReturn(…)"


class McpMemory(Protocol):
    async def sheet(self, name: str) -> McpSheet:
        """An empty one if nothing is kept under that name."""

    async def keep(self, name: str, sheet: McpSheet) -> None:
        """The last one counts. Raises StorageTrouble."""

    async def pass_on(self, back: McpReturn) -> bool:
        """Leave it for the node that waits for it; False if there can be no other."""

    async def passed_on(self) -> McpReturn | None:
        """The last that was left."""


class McpServers(Protocol):
    """All servers that this node can reach, started when they are needed."""

    def put(self, server: McpServer, source: McpSource) -> None:
        """Add it, or put it in the place of the one of its name, which ends."""

    def remove(self, name: str) -> None: ...

    def allow(self, files: dict[WorkspaceId, str]) -> None:
        """The files of workspaces that persons have allowed, by their hashes."""

    async def overview(self, workspace: Workspace | None) -> McpOverview:
        """Those for every workspace, and those of this one."""

    async def restart(self, name: str, workspace: Workspace, home: str) -> McpStanding:
        """End it and start it now; `home` is our own address, for a person who signs in there to
        come back to. Raises NotFound."""

    async def signed_in(self, back: McpReturn) -> str | None:
        """A person came back from signing in; the server's name, empty if it is another node's to
        know, or None if nobody waits."""

    async def read(self, name: str, uri: str, workspace: Workspace) -> McpContent:
        """Raises NotFound, and InvalidInput with what the server said."""

    async def close(self) -> None: ...
