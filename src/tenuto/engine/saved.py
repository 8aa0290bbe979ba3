"""What was set while servers ran, as it stands now and as the store keeps it for every node."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from tenuto.core.error import Conflict, ShuttingDown, StorageTrouble
from tenuto.engine import settings_body
from tenuto.engine.protect import finish
from tenuto.ports.points import NOWHERE, Points, Step
from tenuto.ports.preference import Cipher, SavedSettings
from tenuto.ports.store import Keeping

log = logging.getLogger(__name__)

SETTINGS = "settings"
"""The name under which the store keeps them."""
WRITE_SECONDS = 10.0
"""How long a change that is being written outlives a caller who hangs up."""
MOST_TRIES = 50
"""Each that fails was another's change that counts: nobody waits for more of them."""
AGAIN_SECONDS = 1.0
STOP_SECONDS = 5.0

Alter = Callable[[SavedSettings], SavedSettings]


class Saved:
    """Changes of all nodes follow one another; whoever follows it here is told after each."""

    def __init__(self, store: Keeping, cipher: Cipher, *, points: Points = NOWHERE) -> None:
        self.now = SavedSettings()
        self.on_change: list[Callable[[], None]] = []
        self.on_heard: list[Callable[[], None]] = []
        """Told, after those, of changes that were made on another node."""
        self._store = store
        self._cipher = cipher
        self._points = points
        self._rev = 0
        self._changing = asyncio.Lock()
        self._looking: asyncio.Task[None] | None = None
        self._look_again = False
        self._under_way: set[asyncio.Task[Any]] = set()
        self._stopped = False

    async def begin(self) -> None:
        """Take up what is kept. Raises StorageTrouble, with a sentence, if it makes no sense."""
        await self._take_up()

    async def change(self, alter: Alter) -> SavedSettings:
        """Keep what `alter` makes of what stands; what it raises comes out, and nothing is kept.

        It is asked again, of what stands then, if another node was quicker.
        """
        # A caller who hangs up must not leave the store and us of two minds.
        return await finish(self._do(alter), seconds=WRITE_SECONDS)

    async def inherit(self, old: SavedSettings) -> bool:
        """Keep what an earlier version kept elsewhere, if nothing is kept yet.

        Whether it is what stands now: if not, something else was set before.
        """
        try:
            await self._keep(old, {}, rev=0, what="of an earlier version")
        except Conflict:
            await self._take_up()
        return self.now == old

    def rang(self, name: str) -> None:
        """This was kept on another node, or may have been: look, soon."""
        if name != SETTINGS:
            return
        self._look_again = True
        if not self._stopped and (self._looking is None or self._looking.done()):
            self._looking = asyncio.create_task(self._look(), name="settings")

    async def stop(self) -> None:
        """Let what is being changed come to its end, and change nothing more."""
        self._stopped = True
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=STOP_SECONDS)
        left = {*self._under_way} | ({self._looking} if self._looking else set())
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _do(self, alter: Alter) -> SavedSettings:
        if self._stopped:
            raise ShuttingDown("the server is stopping")
        task = asyncio.current_task()
        assert task is not None
        self._under_way.add(task)
        try:
            return await self._change(alter)
        finally:
            self._under_way.discard(task)

    async def _change(self, alter: Alter) -> SavedSettings:
        async with self._changing:
            for _ in range(MOST_TRIES):
                before, rev = await self._take_up()
                wanted = alter(self.now)
                try:
                    await self._keep(wanted, before, rev=rev)
                except Conflict:
                    continue
                except StorageTrouble:
                    # It may be kept all the same, if it was only the answer that was lost.
                    self.rang(SETTINGS)
                    raise
                return wanted
        raise StorageTrouble("the settings are being changed by too many at once")

    async def _keep(
        self, wanted: SavedSettings, before: settings_body.Plain, *, rev: int, what: str = ""
    ) -> None:
        body = settings_body.encoded(wanted, self._cipher, over=before)
        self._points.reach(Step.KEEPING, what)
        rev = await self._store.keep(SETTINGS, body, rev=rev)
        self._points.reach(Step.KEPT, what)
        self._become(wanted, rev)

    async def _take_up(self) -> tuple[settings_body.Plain, int]:
        """Become what the store has; gives it as it was written there, and its rev."""
        kept = await self._store.kept(SETTINGS)
        if kept is None:
            return {}, 0
        plain = settings_body.plain(kept.body)
        # What is read may be older than what we have written meanwhile.
        if kept.rev > self._rev:
            self._become(settings_body.decoded(plain, self._cipher), kept.rev)
        return plain, kept.rev

    async def _look(self) -> None:
        """Whatever keeps us from it: until it was seen, this node works by what it knew."""
        said, before = "", self._rev
        while self._look_again:
            self._look_again = False
            try:
                await self._take_up()
            except StorageTrouble as trouble:
                if str(trouble) != said:
                    said = str(trouble)
                    log.warning("what was set on another node does not count here yet: %s", said)
                self._look_again = True
                await asyncio.sleep(AGAIN_SECONDS)
        if self._rev != before:
            for tell in self.on_heard:
                tell()

    def _become(self, settings: SavedSettings, rev: int) -> None:
        self.now, self._rev = settings, rev
        for tell in self.on_change:
            tell()
