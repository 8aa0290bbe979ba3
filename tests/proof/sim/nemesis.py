"""The nemesis: crashes, pauses and disks that refuse, by the script."""

from random import Random
from typing import TYPE_CHECKING

from tests.proof.sim.node import Lost
from tests.proof.sim.odd import OddStore
from tests.proof.sim.script import Item

if TYPE_CHECKING:
    from tests.proof.sim.world import World

FOR_EVER = 1 << 60
LONGEST_OUTAGE_SECONDS = 40.0
LONGEST_PAUSE_SECONDS = 40.0


class SimNemesis:
    def __init__(self, world: "World") -> None:
        self._world = world
        self._armed: list[tuple[int, str]] = []
        """After how many more calls of the store which fate comes."""
        self._outage_until = 0.0
        self.is_up_to_something = False
        """Whether a call of the store may have a fate at all."""
        self.is_calm = False
        self.odd: OddStore | None = None

    def fate(self) -> str:
        """What becomes of this call of the store."""
        if self._world.loop.now < self._outage_until:
            return "trouble"
        if not self._armed:
            return ""
        due = [fate for left, fate in self._armed if left == 0]
        self._armed = [(left - 1, fate) for left, fate in self._armed if left > 0]
        return due[0] if due else ""

    async def strike(self, item: Item) -> None:
        dice = Random(item.dice)
        self.is_up_to_something = not self.is_calm
        match item.kind:
            case "crash":
                if node := self._world.pick_node(dice):
                    self._world.crash(node)
            case "crash_at":
                fate = dice.choice(("crash before", "crash after"))
                self._armed.append((dice.choice((0, 1, 2, 3, dice.randrange(60))), fate))
            case "trouble":
                for _ in range(dice.choice((1, 1, 3))):
                    self._armed.append((dice.randrange(30), "trouble"))
            case "outage":
                seconds = dice.random() * dice.choice((1.0, LONGEST_OUTAGE_SECONDS))
                self._outage_until = self._world.loop.now + seconds
                if self._world.script.nodes > 1:
                    # Nobody can keep a lease: whoever is first after it may think the others gone.
                    self._world.ledger.losses.append(FOR_EVER)
            case "odd":
                self.odd = OddStore(dice, self._world.ledger)
            case "restart":
                await self._restart(dice)
            case "freeze" | "stall":
                await self._pause(item.kind, dice)

    def calm(self) -> None:
        """No more bad luck from here on."""
        self.is_calm = True
        self.is_up_to_something = False
        self._armed.clear()
        if self.odd is not None:
            self.odd.calm()
        for node in self._world.nodes:
            node.disk.stalled_until = 0.0
            self._world.loop.thaw(node.name)

    async def _restart(self, dice: Random) -> None:
        node = self._world.pick_node(dice)
        if node is None or not node.ready:
            return
        self._world.ledger.losing += 1
        try:
            await self._world.stop(node, dice.choice((0.0, 0.5, 5.0)))
        except Lost:
            return
        finally:
            self._world.ledger.losing -= 1
            self._world.lost_node()
        self._world.revive(dice.random())

    async def _pause(self, kind: str, dice: Random) -> None:
        node = self._world.pick_node(dice)
        if node is None or self.is_calm:
            return
        self._world.ledger.losses.append(FOR_EVER)
        seconds = dice.choice((dice.random(), 0.5 + dice.random() / 2)) * LONGEST_PAUSE_SECONDS
        if kind == "stall":
            node.disk.stalled_until = self._world.loop.now + seconds
            return
        self._world.loop.freeze(node.name)
        self._world.loop.call_later(
            seconds, self._world.loop.thaw, node.name, context=self._world.outside
        )
