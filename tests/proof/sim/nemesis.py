"""The nemesis: crashes, pauses and disks that refuse, by the script."""

from random import Random
from typing import TYPE_CHECKING

from tests.proof.sim.ledger import FOR_EVER
from tests.proof.sim.node import Lost
from tests.proof.sim.odd import OddStore
from tests.proof.sim.script import DOUBTS, Item

if TYPE_CHECKING:
    from tests.proof.sim.world import World

LONGEST_OUTAGE_SECONDS = 40.0
LONGEST_PAUSE_SECONDS = 40.0
SAFE_SECONDS = 27.0
"""Who is kept from the store for less than this keeps its lease, and every run."""


class SimNemesis:
    def __init__(self, world: "World") -> None:
        self._world = world
        self._armed: list[tuple[int, str]] = []
        """After how many more calls of the store which fate comes."""
        self._outage_until = 0.0
        self._outage_dice = Random(world.script.seed)
        self.is_up_to_something = False
        """Whether a call of the store may have a fate at all."""
        self.is_calm = False
        self.odd: OddStore | None = None
        self._kept_away: set[str] = set()
        """Who was kept from the store before; empty: everyone."""

    def fate(self, *, is_write: bool = False) -> str:
        """What becomes of this call of the store."""
        if self._world.loop.now < self._outage_until:
            is_doubted = is_write and self._world.script.is_cluster
            return "in doubt" if is_doubted and self._outage_dice.random() < 0.2 else "trouble"
        if not self._armed:
            return ""
        due = [fate for left, fate in self._armed if left == 0]
        if due and due[0] in DOUBTS and not is_write:
            # Only what writes can be in doubt: it waits for that.
            return ""
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
            case "in_doubt":
                for _ in range(dice.choice((1, 1, 2, 4))):
                    after = dice.choice((0, 1, 2, 3, dice.randrange(40)))
                    self._armed.append((after, dice.choice(DOUBTS)))
            case "outage":
                seconds = dice.random() * dice.choice((1.0, LONGEST_OUTAGE_SECONDS))
                self._outage_until = self._world.loop.now + seconds
                self._keep_away("", seconds)
                for node in self._world.nodes:
                    node.ring.lost(seconds)
            case "odd":
                self.odd = OddStore(dice, self._world.ledger)
            case "restart":
                await self._restart(dice)
            case "freeze" | "stall" | "cut":
                await self._pause(item.kind, dice)

    def calm(self) -> None:
        """No more bad luck from here on."""
        self.is_calm = True
        self.is_up_to_something = False
        self._armed.clear()
        if self.odd is not None:
            self.odd.calm()
        for node in self._world.nodes:
            node.disk.stalled_until = node.disk.cut_until = 0.0
            self._world.loop.thaw(node.name)

    async def _restart(self, dice: Random) -> None:
        node = self._world.pick_node(dice)
        if node is None or not node.ready:
            return
        self._world.ledger.losing.append(node.name)
        try:
            await self._world.stop(node, dice.choice((0.0, 0.5, 5.0)))
        except Lost:
            return
        finally:
            self._world.ledger.losing.remove(node.name)
            self._world.lost_node(node)
        self._world.revive(dice.random())

    async def _pause(self, kind: str, dice: Random) -> None:
        node = self._world.pick_node(dice)
        if node is None or self.is_calm:
            return
        seconds = dice.choice((dice.random(), 0.5 + dice.random() / 2)) * LONGEST_PAUSE_SECONDS
        self._keep_away(node.name, seconds)
        if kind == "stall":
            node.disk.stalled_until = self._world.loop.now + seconds
            return
        if kind == "cut":
            node.disk.cut_until = self._world.loop.now + seconds
            node.ring.lost(seconds)
            return
        self._world.loop.freeze(node.name)
        self._world.loop.call_later(
            seconds, self._world.loop.thaw, node.name, context=self._world.outside
        )

    def _keep_away(self, who: str, seconds: float) -> None:
        """Only who is kept from the store for too long, or again, may lose what it runs."""
        again = who in self._kept_away or "" in self._kept_away or (not who and self._kept_away)
        if seconds > SAFE_SECONDS or again:
            self._world.ledger.lose(who, FOR_EVER)
        self._kept_away.add(who)
