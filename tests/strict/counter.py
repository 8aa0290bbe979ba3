"""The counter: strict vendors behind one real socket, each at an address of its own."""

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Any

from tests.strict.answers.speech import Speech
from tests.strict.intent import drawn
from tests.strict.refusal import Body
from tests.strict.story import Rebuff
from tests.strict.vendor import Vendor
from tests.support.model_server import Exchange

HARMLESS = ("read_file", "list_files", "search_files", "todo")
"""Tools of the product that may be called with anything."""
BUSY: tuple[tuple[int, dict[str, str]], ...] = (
    (429, {"Retry-After": "0"}),
    (503, {"retry-after-ms": "1"}),
    (529, {"Retry-After": "0"}),
)


class Counter:
    """Answers every request as its vendor would, with a mishap now and then; refuses what it must."""

    def __init__(self, vendors: Sequence[Vendor], seed: int) -> None:
        self._vendors = {vendor.name: vendor for vendor in vendors}
        self._chance = Random(seed)
        self._holds = False
        self._held = asyncio.Event()
        self._released = asyncio.Event()
        self.asked = 0
        self.refused: list[Rebuff] = []

    def listings(self) -> dict[str, list[Any]]:
        return {name: [vendor.facts.name] for name, vendor in self._vendors.items()}

    def hold(self) -> None:
        """Fall silent in the middle of the next answer."""
        self._holds = True
        self._held.clear()
        self._released.clear()

    async def held(self) -> None:
        async with asyncio.timeout(20):
            await self._held.wait()

    def release(self) -> None:
        """Say the rest."""
        self._released.set()

    async def __call__(self, exchange: Exchange) -> None:
        """A script of the model server."""
        vendor = self._vendors[exchange.house]
        self.asked += 1
        if refusal := vendor.judge(exchange.body, vendor.facts):
            self.refused.append(Rebuff(vendor.name, refusal, exchange.body))
            await exchange.answer(refusal.body, status=refusal.status)
            return
        if not self._holds and self._chance.random() < 0.04:
            status, headers = self._chance.choice(BUSY)
            await exchange.fail(status, "Overloaded", headers)
            return
        tools = tuple(name for name in _offered(exchange.body) if name in HARMLESS)
        intent = drawn(self._chance, vendor.facts, tools=tools)
        await self._say(exchange, vendor.answer(intent, exchange.body, vendor.facts), vendor)

    async def _say(self, exchange: Exchange, speech: Speech, vendor: Vendor) -> None:
        frames = speech.frames()
        if speech.framing == "lines":
            exchange.content_type = "application/x-ndjson"
        middle = self._chance.randrange(1, len(frames)) if len(frames) > 1 else 0
        await exchange.raw(b"".join(frames[:middle]))
        if self._holds:
            self._holds = False
            self._held.set()
            await self._released.wait()
        elif (mishap := self._chance.random()) < 0.03:
            await exchange.break_off()
            return
        elif mishap < 0.06:
            await exchange.raw(speech.frame(vendor.failure()))
            await exchange.end()
            return
        await exchange.raw(b"".join(frames[middle:]))
        await exchange.end()


def _offered(body: Body) -> list[str]:
    tools = body.get("tools") or []
    return [tool.get("name") or tool["function"]["name"] for tool in tools]
