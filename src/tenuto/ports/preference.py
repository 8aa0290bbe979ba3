"""Preferences: what can be set while the server runs, and where it is kept."""

from typing import Protocol

import msgspec

from tenuto.core.mcp import McpServer
from tenuto.core.permission import Permission
from tenuto.core.provider import KeptProvider
from tenuto.core.value import Value, WorkspaceId


class Preferences(Value):
    default_model: str | None
    """None: the best of what there is."""
    titles: bool
    permission_default: Permission
    """For tools that change something or reach out."""
    permissions: dict[str, Permission] = msgspec.field(default_factory=dict)
    """For single tools, whatever they do."""


class SavedSettings(Value):
    """What was set while the server ran. None: nothing was, so the configuration counts."""

    default_model: str | None = None
    titles: bool | None = None
    permission_default: Permission | None = None
    permissions: dict[str, Permission] = msgspec.field(default_factory=dict)
    providers: tuple[KeptProvider, ...] = ()
    mcp: tuple[McpServer, ...] = ()
    mcp_files: dict[WorkspaceId, str] = msgspec.field(default_factory=dict)
    """The `.mcp.json` of workspaces that persons have allowed, by their hashes."""

    def provider(self, name: str) -> KeptProvider | None:
        return next((p for p in self.providers if p.name == name), None)

    def mcp_server(self, name: str) -> McpServer | None:
        return next((one for one in self.mcp if one.name == name), None)


class Cipher(Protocol):
    """Keeps a secret from whoever reads what is kept."""

    def encrypt(self, text: str, *, about: str) -> str:
        """The same never gives the same twice. Raises StorageTrouble."""

    def decrypt(self, encrypted: str, *, about: str) -> str:
        """What was encrypted. Raises StorageTrouble, with a sentence, if it was encrypted with another
        secret, about something else, or is no longer what it was."""
