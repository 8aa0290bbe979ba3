"""What is remembered of MCP servers between their lives: what they offer, and who is signed in."""

import asyncio
import hashlib
import logging

import msgspec
from msgspec.structs import replace

from tenuto.core.error import StorageTrouble
from tenuto.core.mcp import McpServer
from tenuto.ports.mcp import McpListing, McpMemory, McpSheet

log = logging.getLogger(__name__)


class Sheets:
    """One for each server, read once and written when something is learnt."""

    def __init__(self, memory: McpMemory) -> None:
        self._memory = memory
        self._sheets: dict[str, McpSheet] = {}
        self._keeping: set[asyncio.Task[None]] = set()

    async def of(self, server: McpServer) -> McpSheet:
        """An empty one if what is remembered is of another server of that name."""
        if server.name not in self._sheets:
            self._sheets[server.name] = await self._memory.sheet(server.name)
        return self.read(server)

    def read(self, server: McpServer) -> McpSheet:
        """As far as it was asked for before."""
        sheet, of = self._sheets.get(server.name, McpSheet()), _print(server)
        return sheet if sheet.of == of else McpSheet(of=of)

    def forget(self) -> None:
        """Another node may have learnt something: what is remembered is read again."""
        self._sheets.clear()

    def offered(self, server: McpServer, listing: McpListing) -> None:
        self._learn(server, replace(self.read(server), listing=listing))

    def signed_in(self, server: McpServer, login: str) -> None:
        self._learn(server, replace(self.read(server), login=login))

    async def close(self) -> None:
        """Wait until all is kept."""
        await asyncio.gather(*self._keeping, return_exceptions=True)

    def _learn(self, server: McpServer, sheet: McpSheet) -> None:
        if sheet == self._sheets.get(server.name):
            return
        self._sheets[server.name] = sheet
        task = asyncio.create_task(self._keep(server.name, sheet))
        self._keeping.add(task)
        task.add_done_callback(self._keeping.discard)

    async def _keep(self, name: str, sheet: McpSheet) -> None:
        try:
            await self._memory.keep(name, sheet)
        except StorageTrouble as trouble:
            # It is asked again in its next life.
            log.warning("what an MCP server offers could not be kept: %s", trouble)


def _print(server: McpServer) -> str:
    """What makes it another server: another program, or another address."""
    told = msgspec.json.encode((server.command, server.args, server.url))
    return hashlib.sha256(told).hexdigest()[:16]
