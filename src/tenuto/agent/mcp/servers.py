"""All MCP servers of a node: which there are, how they stand, and the tools that they give to runs."""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from tenuto.agent.mcp import message, workspace_file
from tenuto.agent.mcp.life import OVER, McpTrouble, ServerLife
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
    McpOverview,
    McpPrompt,
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
        self._output_characters = settings.output_characters
        self._folder_of = folder_of
        self._known: dict[str, KnownServer] = {}
        self._allowed: dict[WorkspaceId, str] = {}

    def put(self, server: McpServer, source: McpSource) -> None:
        known = KnownServer(server=server, source=source)
        if self._known.get(server.name) != known:
            self._lives.retire(server.name)
            self._known[server.name] = known

    def remove(self, name: str) -> None:
        known = self._known.pop(name, None)
        self._lives.retire(name)
        if known is not None:
            self._sheets.erase(known.server)

    def allow(self, files: dict[WorkspaceId, str]) -> None:
        self._allowed = files
        for name, workspace in self._lives.places():
            if name not in self._known and workspace not in files:
                self._lives.retire(name, workspace)

    def known(self) -> Sequence[Tool]:
        return [
            McpTool(one.server, offer, _nowhere, self._output_characters)
            for one in self._known.values()
            for offer in (self._sheets.read(one.server).listing or McpListing()).tools
            if one.server.offers(offer.name)
        ]

    async def for_run(self, site: Site) -> Sequence[Tool]:
        servers = [one.server for one in await self._of(site.workspace) if one.server.enabled]
        found = await asyncio.gather(*(self._tools(one, site.workspace) for one in servers))
        return [tool for tools in found for tool in tools]

    async def prompts(self, workspace: Workspace) -> list[tuple[McpServer, McpPrompt]]:
        """All that the workspace's servers are known to have."""
        found: list[tuple[McpServer, McpPrompt]] = []
        for one in await self._of(workspace):
            if one.server.enabled and (listing := (await self._sheets.of(one.server)).listing):
                found += [(one.server, prompt) for prompt in listing.prompts]
        return found

    async def ask(
        self, server: McpServer, workspace: Workspace, order: Callable[[int, int], message.Order]
    ) -> message.Done:
        """Ask a server something for nobody's run. Raises InvalidInput with why it cannot be had."""
        try:
            return await (await self._life(server, workspace)).ask(order, NOBODY)
        except (McpTrouble, RequestRefused) as trouble:
            raise InvalidInput(f"{server.name}: {trouble}") from None

    async def overview(self, workspace: Workspace | None) -> McpOverview:
        # Read once: what is shown is what its hash is of.
        file = await self._file(workspace) if workspace else None
        known = self._usable(workspace, file)
        found = [await self._standing(one, workspace) for one in known]
        if workspace is None or file is None:
            return McpOverview(servers=tuple(found))
        names = {one.server.name for one in found}
        found += [
            McpStanding(server=server, source=McpSource.WORKSPACE, state=McpState.OFF)
            for server in file.servers
            if server.name not in names
        ]
        allowed = self._allowed.get(workspace.id) == file.hash
        about = McpFile(hash=file.hash, allowed=allowed, error=file.error)
        return McpOverview(servers=tuple(found), file=about)

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
        return life.server.name if life.state is McpState.READY else None

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
        done = await self.ask(
            known.server,
            workspace,
            lambda number, key: message.ReadResource(id=number, key=key, uri=uri),
        )
        label = uri.rstrip("/").rpartition("/")[2] or uri
        return McpContent(name=label, media_type=done.media_type, content=done.content)

    async def close(self) -> None:
        await self._lives.close()
        await self._sheets.close()

    async def _of(self, workspace: Workspace) -> list[KnownServer]:
        """Those that this workspace may use."""
        return self._usable(workspace, await self._file(workspace))

    def _usable(
        self, workspace: Workspace | None, file: workspace_file.ServersFile | None
    ) -> list[KnownServer]:
        """Of one name, the one that is not the workspace's own."""
        servers = dict(self._known)
        if workspace and file is not None and self._allowed.get(workspace.id) == file.hash:
            for server in file.servers:
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
        if (await self._sheets.of(server)).listing is None and not life.was_waited_for:
            # It has never said what it offers, and now somebody needs to know.
            await life.settled(FIRST_SECONDS)
            life.was_waited_for = True
        listing = (await self._sheets.of(server)).listing or McpListing()
        return [
            McpTool(server, offer, partial(self._reach, server, workspace), self._output_characters)
            for offer in listing.tools
            if server.offers(offer.name)
        ]

    async def _reach(self, server: McpServer, workspace: Workspace) -> ServerLife:
        """Raises McpTrouble if it is not what it was when the tool was offered."""
        now = next((one.server for one in await self._of(workspace) if one.server == server), None)
        if now is None or not now.enabled:
            raise McpTrouble(OVER)
        return await self._life(server, workspace)

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


NOBODY = _Nobody()


async def _nowhere() -> ServerLife:
    raise ToolFailed("This tool can be used in a run only.")
