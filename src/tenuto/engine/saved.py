"""What was set while the server ran, as it stands now and as it is kept."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from tenuto.engine.protect import finish
from tenuto.ports.preference import SavedSettings, SettingsStore

WRITE_SECONDS = 10.0
"""How long a change that is being written outlives a caller who hangs up."""


class Saved:
    """One at a time may change it; whoever follows it is told after each change."""

    def __init__(self, store: SettingsStore) -> None:
        self.now = SavedSettings()
        self.on_change: list[Callable[[], None]] = []
        self._store = store
        self._changing = asyncio.Lock()

    async def begin(self) -> None:
        """Take up what was kept."""
        self._become(await self._store.read())

    @asynccontextmanager
    async def changing(self) -> AsyncIterator[SavedSettings]:
        """As it stands, for as long as nobody else may change it."""
        async with self._changing:
            yield self.now

    async def keep(self, settings: SavedSettings) -> None:
        # A caller who hangs up must not leave the file and us of two minds.
        await finish(self._write(settings), seconds=WRITE_SECONDS)

    async def _write(self, settings: SavedSettings) -> None:
        await self._store.write(settings)
        self._become(settings)

    def _become(self, settings: SavedSettings) -> None:
        self.now = settings
        for tell in self.on_change:
            tell()
