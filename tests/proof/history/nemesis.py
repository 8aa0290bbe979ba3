"""The nemesis: it kills, pauses and starves the server, and spoils its network; all written down."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from random import Random

from tests.proof.history.record import Misfortune, Record, now
from tests.support.proxy import Proxy
from tests.support.server import TenutoServer

DEEDS = {
    "kill": 5,
    "kill twice": 1,
    "pause": 4,
    "cut": 4,
    "half-close": 3,
    "delay": 3,
    "refuse": 1,
    "slow disk": 2,
}


class Nemesis:
    deeds: Mapping[str, int] = DEEDS
    """How often each comes, in proportion."""

    def __init__(self, server: TenutoServer, proxy: Proxy, record: Record, random: Random) -> None:
        self._server = server
        self.proxy = proxy
        self._record = record
        self._random = random

    async def rage(self, enough: Callable[[], bool]) -> None:
        """Mistreat the server until it is enough; leave it running and well."""
        # The first is a kill, so that the shortest history has one; then a deck, so that each
        # thing comes as often as it should.
        deck = ["kill"]
        while not enough():
            await asyncio.sleep(self._random.uniform(0.3, 2.5))
            deck = deck or self._random.sample(
                list(self.deeds), k=sum(self.deeds.values()), counts=self.deeds.values()
            )
            deed = deck.pop()
            began = now()
            detail = await self._do(deed)
            entry = Misfortune(action=deed, began=began, ended=now(), detail=detail)
            self._record.write(entry)

    async def _do(self, deed: str) -> str | None:
        match deed:
            case "kill":
                await self._server.kill()
                await self._server.start()
            case "kill twice":
                # The second one does not live to see the end of its own recovery.
                await self._server.kill()
                await self._server.start_nowait()
                await asyncio.sleep(self._random.uniform(0.2, 0.9))
                await self._server.kill()
                await self._server.start()
            case "pause":
                await self._pause(self._random.choice([0.05, 0.3, 1.0, 2.5]))
            case "cut":
                return f"{self.proxy.cut(self._random.choice([0.1, 0.5, 1.0]))} connections"
            case "half-close":
                return f"{self.proxy.close_half(0.3)} connections"
            case "delay":
                self.proxy.hold()
                await asyncio.sleep(self._random.uniform(0.05, 1.5))
                self.proxy.flow()
            case "refuse":
                self.proxy.refusing = True
                await asyncio.sleep(self._random.uniform(0.1, 1.0))
                self.proxy.refusing = False
            case "slow disk":
                async with self._busy_disk():
                    await asyncio.sleep(self._random.uniform(0.5, 3.0))
            case _:
                raise ValueError(deed)
        return None

    async def _pause(self, seconds: float) -> None:
        """The whole process stands still, as on a machine that is swapped out or suspended."""
        self._server.freeze()
        try:
            await asyncio.sleep(seconds)
        finally:
            self._server.thaw()

    @asynccontextmanager
    async def _busy_disk(self) -> AsyncGenerator[None, None]:
        command = [sys.executable, "-m", "tests.proof.history.disk", str(self._server.data)]
        busy = await asyncio.create_subprocess_exec(*command)
        try:
            yield
        finally:
            busy.kill()
            await busy.wait()
