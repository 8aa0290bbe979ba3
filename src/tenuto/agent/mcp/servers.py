"""All MCP servers of a node: which there are, how they stand, and the tools that they give to runs."""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from tenuto.agent.mcp import message, workspace_file
from tenuto.agent.mcp.life import McpTrouble, ServerLife
from tenuto.agent.mcp.link import Link, RequestRefused
from tenuto.agent.mcp.lives import Lives, McpSettings
from tenuto.agent.mcp.sheets import Sheets
from tenuto.agent.mcp.tool import McpTool
from tenuto.agent.tools.files.errand import in_thread
from tenuto.agent.tools.processes.environment import without_secrets
from tenuto.agent.tools.processes.sandbox import Sandbox
from tenuto.core.error import InvalidInput, NotFound, StorageTrouble
from tenuto.core.mcp import McpServer, McpSource, McpState
from tenuto.core.session import Workspace
from tenuto.core.value import Value, WorkspaceId
from tenuto.ports.mcp import (
    McpContent,
    McpFile,
    McpListing,
    McpMemory,
    McpReturn,
    McpStanding,
)
from tenuto.ports.tool import Site, Tool, ToolFailed

log = logging.getLogger(__name__)

FIRST_SECONDS = 30.0
"""How long a run waits to hear what a server offers that has never said it."""
TELLING = (McpState.IDLE, McpState.READY, McpState.STARTING, McpState.FAILED, McpState.NEEDS_LOGIN)
"""Of several states, the last is what a person should know."""

FolderOf = Callable[[Workspace], Awaitable[Path | None]]


class KnownServer(Value):
    server: McpServer
    source: McpSource


class RemoteServers:
    """Implements `McpServers` and `Tools`."""

    def __init__(
        self, memory: McpMemory, sandbox: Sandbox, folder_of: FolderOf, settings: McpSettings
    ) -> None:
        self._memory = memory
        self._sheets = Sheets(memory)
        self._looking: asyncio.Task[None] | None = None
        self._lives = Lives(self._sheets, sandbox, settings, Link(patience=settings.patience))
        self._folder_of = folder_of
        self._known: dict[str, KnownServer] = {}
        self._allowed: dict[WorkspaceId, str] = {}

    def put(self, server: McpServer, source: McpSource) -> None:
        known = KnownServer(server=server, source=source)
        if self._known.get(server.name) != known:
            self._lives.retire(server.name)
            self._known[server.name] = known

    def remove(self, name: str) -> None:
        self._known.pop(name, None)
        self._lives.retire(name)

    def allow(self, files: dict[WorkspaceId, str]) -> None:
        self._allowed = files
        for name, workspace in self._lives.places():
            if name not in self._known and workspace not in files:
                self._lives.retire(name, workspace)

    def known(self) -> Sequence[Tool]:
        return [
            McpTool(one.server, offer, _nowhere)
            for one in self._known.values()
            for offer in (self._sheets.read(one.server).listing or McpListing()).tools
            if one.server.offers(offer.name)
        ]

    async def for_run(self, site: Site) -> Sequence[Tool]:
        servers = [one.server for one in await self._of(site.workspace) if one.server.enabled]
        found = await asyncio.gather(*(self._tools(one, site.workspace) for one in servers))
        return [tool for tools in found for tool in tools]

    async def standings(self, workspace: Workspace | None) -> Sequence[McpStanding]:
        known = list(self._known.values()) if workspace is None else await self._of(workspace)
        found = [await self._standing(one, workspace) for one in known]
        if workspace is not None and (file := await self._file(workspace)):
            names = {one.server.name for one in found}
            found += [
                McpStanding(server=server, source=McpSource.WORKSPACE, state=McpState.OFF)
                for server in file.servers
                if server.name not in names
            ]
        return found

    async def file(self, workspace: Workspace) -> McpFile | None:
        found = await self._file(workspace)
        if found is None:
            return None
        allowed = self._allowed.get(workspace.id) == found.hash
        return McpFile(hash=found.hash, allowed=allowed, error=found.error)

    async def restart(self, name: str, workspace: Workspace, home: str) -> McpStanding:
        known = await self._find(name, workspace)
        self._lives.move(home)
        await self._lives.end(name, workspace.id)
        if known.server.enabled:
            life = await self._life(known.server, workspace)
            await life.settled(FIRST_SECONDS)
        return await self._standing(known, workspace)

    async def signed_in(self, back: McpReturn) -> str | None:
        life = self._lives.waiting_for(back.state)
        if life is None:
            return "" if await self._memory.pass_on(back) else None
        life.came_back(back)
        await life.settled(FIRST_SECONDS)
        return life.server.name

    def rang(self, name: str) -> None:
        """This was kept on another node."""
        if name.startswith("mcp"):
            self.look()

    def look(self) -> None:
        """Another node may have learnt something, or somebody came back there."""
        self._sheets.forget()
        if self._lives.anyone_waits():
            self._looking = asyncio.create_task(self._look())

    async def _look(self) -> None:
        try:
            back = await self._memory.passed_on()
        except StorageTrouble as trouble:
            log.warning("who signed in on another node is not known yet: %s", trouble)
            return
        life = self._lives.waiting_for(back.state) if back else None
        if life is not None and back is not None:
            life.came_back(back)

    async def read(self, name: str, uri: str, workspace: Workspace) -> McpContent:
        known = await self._find(name, workspace)
        if not known.server.enabled:
            raise InvalidInput(f"{name} is switched off")
        try:
            life = await self._life(known.server, workspace)
            done = await life.read(uri, _Nobody())
        except (McpTrouble, RequestRefused) as trouble:
            raise InvalidInput(f"{name}: {trouble}") from None
        label = uri.rstrip("/").rpartition("/")[2] or uri
        return McpContent(name=label, media_type=done.media_type, content=done.content)

    async def close(self) -> None:
        await self._lives.close()
        await self._sheets.close()

    async def _of(self, workspace: Workspace) -> list[KnownServer]:
        """Those that this workspace may use; of one name, the one that is not its own."""
        servers = dict(self._known)
        found = await self._file(workspace)
        if found is not None and self._allowed.get(workspace.id) == found.hash:
            for server in found.servers:
                own = KnownServer(server=server, source=McpSource.WORKSPACE)
                servers.setdefault(server.name, own)
        return list(servers.values())

    async def _file(self, workspace: Workspace) -> workspace_file.ServersFile | None:
        folder = await self._folder_of(workspace)
        if folder is None:
            return None
        variables = without_secrets(os.environ)
        return await in_thread(lambda _: workspace_file.read(folder, variables))

    async def _find(self, name: str, workspace: Workspace) -> KnownServer:
        for known in await self._of(workspace):
            if known.server.name == name:
                return known
        raise NotFound(f"there is no MCP server {name}")

    async def _standing(self, known: KnownServer, workspace: Workspace | None) -> McpStanding:
        server = known.server
        sheet = await self._sheets.of(server)
        standing = McpStanding(
            server=server,
            source=known.source,
            state=McpState.IDLE if server.enabled else McpState.OFF,
            listing=sheet.listing or McpListing(),
        )
        lives = self._lives.named(server.name, workspace.id if workspace else None)
        if not lives or not server.enabled:
            return standing
        life = max(lives, key=lambda one: TELLING.index(one.state))
        return replace(standing, state=life.state, error=life.error, login_url=life.login_url)

    async def _tools(self, server: McpServer, workspace: Workspace) -> list[Tool]:
        try:
            life = await self._life(server, workspace)
        except InvalidInput:
            return []
        if (await self._sheets.of(server)).listing is None:
            # It has never said what it offers, and now somebody needs to know.
            await life.settled(FIRST_SECONDS)
        listing = (await self._sheets.of(server)).listing or McpListing()
        return [
            McpTool(server, offer, lambda: life)
            for offer in listing.tools
            if server.offers(offer.name)
        ]

    async def _life(self, server: McpServer, workspace: Workspace) -> ServerLife:
        folder = await self._folder_of(workspace)
        if folder is None:
            raise InvalidInput(f"the folder of {workspace.name} is on {workspace.home}, not here")
        return self._lives.of(server, workspace.id, folder)


class _Nobody:
    """Implements `Caller` where no person can be asked."""

    def progress(self, text: str) -> None:
        return

    async def ask(self, asks: message.Asks) -> None:
        return None


def _nowhere() -> ServerLife:
    raise ToolFailed("This tool can be used in a run only.")
