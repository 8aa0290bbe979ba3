"""The lives of MCP servers on this node: one for each server and workspace that needs it."""

import asyncio
from pathlib import Path

from tenuto.agent.mcp.life import Ground, ServerLife
from tenuto.agent.mcp.link import Link
from tenuto.agent.mcp.sheets import Sheets
from tenuto.agent.tools.processes.sandbox import Sandbox
from tenuto.core.mcp import McpServer
from tenuto.core.value import Value, WorkspaceId

CALLBACK = "/mcp/callback"
CLOSE_SECONDS = 6.0
"""Whoever takes longer goes with the host."""


class McpSettings(Value):
    patience: int = 0
    """Seconds after which all of them are ended if this process stands still; 0: they are not."""
    idle_seconds: float = 600.0
    output_characters: int = 30_000
    home: str = "http://127.0.0.1"
    """Our own address, until a person shows another."""


class Lives:
    def __init__(self, sheets: Sheets, sandbox: Sandbox, settings: McpSettings, link: Link) -> None:
        self._sheets = sheets
        self._sandbox = sandbox
        self._settings = settings
        self._link = link
        self._home = settings.home
        self._lives: dict[tuple[str, WorkspaceId], ServerLife] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def move(self, home: str) -> None:
        """Whoever signs in from now on comes back here."""
        self._home = home

    def of(self, server: McpServer, workspace: WorkspaceId, folder: Path) -> ServerLife:
        """The one that is, or a new one; nothing is started yet."""
        where = (server.name, workspace)
        if where in self._lives and self._lives[where].server != server:
            self.retire(*where)
        if where not in self._lives:
            ground = Ground(
                folder=folder,
                owner=f"mcp {server.name} {workspace}",
                home=self._home + CALLBACK,
                patience=self._settings.patience,
                idle_seconds=self._settings.idle_seconds,
            )
            self._lives[where] = ServerLife(server, ground, self._link, self._sandbox, self._sheets)
        return self._lives[where]

    def named(self, name: str, workspace: WorkspaceId | None) -> list[ServerLife]:
        """Those of this server, in this workspace or in all."""
        return [
            life
            for (server, where), life in self._lives.items()
            if server == name and workspace in (None, where)
        ]

    def waiting_for(self, state: str) -> ServerLife | None:
        """Who has sent a person away to sign in, and knows them by this."""
        waiting = (life for life in self._lives.values() if life.login_state == state)
        return next(waiting, None)

    def anyone_waits(self) -> bool:
        return any(life.login_state is not None for life in self._lives.values())

    def places(self) -> list[tuple[str, WorkspaceId]]:
        return list(self._lives)

    def retire(self, name: str, workspace: WorkspaceId | None = None) -> None:
        """End those of this server; nobody waits for it."""
        for where in [one for one in self._lives if one[0] == name]:
            if workspace in (None, where[1]):
                task = asyncio.create_task(self._lives.pop(where).end())
                self._ending.add(task)
                task.add_done_callback(self._ending.discard)

    async def end(self, name: str, workspace: WorkspaceId) -> None:
        life = self._lives.pop((name, workspace), None)
        if life is not None:
            await life.end()

    async def close(self) -> None:
        for name, workspace in self.places():
            self.retire(name, workspace)
        if self._ending:
            await asyncio.wait(self._ending, timeout=CLOSE_SECONDS)
        await self._link.stop()
