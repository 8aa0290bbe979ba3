"""What is remembered of MCP servers between their lives: what they offer, and who is signed in."""

import asyncio
import hashlib
import logging
from collections import defaultdict

import msgspec
from msgspec.structs import replace

from tenuto.core.error import StorageTrouble
from tenuto.core.mcp import McpServer
from tenuto.ports.mcp import McpListing, McpMemory, McpSheet

log = logging.getLogger(__name__)


class Sheets:
    """One for each program or address of a name, read once and written when something is learnt."""

    def __init__(self, memory: McpMemory) -> None:
        self._memory = memory
        self._sheets: dict[str, McpSheet] = {}
        self._keeping: set[asyncio.Task[None]] = set()
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def of(self, server: McpServer) -> McpSheet:
        key = _key(server)
        if key not in self._sheets:
            sheet = await self._memory.sheet(key)
            # Something may have been learnt while it was read.
            self._sheets.setdefault(key, sheet)
        return self._sheets[key]

    def read(self, server: McpServer) -> McpSheet:
        """As far as it was asked for before."""
        return self._sheets.get(_key(server), McpSheet())

    def forget(self) -> None:
        """Another node may have learnt something: what is remembered is read again."""
        if not self._keeping:
            self._sheets.clear()

    def offered(self, server: McpServer, listing: McpListing) -> None:
        self._learn(server, replace(self.read(server), listing=listing))

    def signed_in(self, server: McpServer, login: str) -> None:
        self._learn(server, replace(self.read(server), login=login))

    def erase(self, server: McpServer) -> None:
        """Nothing of it shall be kept."""
        self._learn(server, McpSheet())

    async def close(self) -> None:
        """Wait until all is kept."""
        await asyncio.gather(*self._keeping, return_exceptions=True)

    def _learn(self, server: McpServer, sheet: McpSheet) -> None:
        key = _key(server)
        if sheet == self._sheets.get(key, McpSheet()):
            return
        self._sheets[key] = sheet
        task = asyncio.create_task(self._keep(key, sheet))
        self._keeping.add(task)
        task.add_done_callback(self._keeping.discard)

    async def _keep(self, key: str, sheet: McpSheet) -> None:
        """In the order in which it was learnt."""
        async with self._turns[key]:
            try:
                await self._memory.keep(key, sheet)
            except StorageTrouble as trouble:
                # It is asked again in its next life.
                log.warning("what an MCP server offers could not be kept: %s", trouble)


def _key(server: McpServer) -> str:
    """Another program or another address is another server, whatever it is called."""
    told = msgspec.json.encode((server.command, server.args, server.url))
    return f"{server.name}.{hashlib.sha256(told).hexdigest()[:16]}"
