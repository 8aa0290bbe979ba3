"""Settings that are changed while everyone works: what was answered counts, and is kept."""

from typing import TYPE_CHECKING

from tenuto.core.error import StorageTrouble
from tenuto.engine.settings import PreferenceChange
from tenuto.ports.preference import SavedSettings
from tests.proof.sim.loop import turn
from tests.proof.sim.model import BOTH
from tests.proof.sim.violation import must

if TYPE_CHECKING:
    from tests.proof.sim.client import SimClient
    from tests.proof.sim.node import Node
    from tests.proof.sim.world import World


class KeptSettings:
    """The file that outlives every node, and what clients were told of it."""

    def __init__(self) -> None:
        self.content = SavedSettings()
        self.told: str | None = None
        """The default model by the last answer."""
        self.asking = 0
        """Changes that are under way, or whose answer was lost: nobody knows what is so."""

    def check(self, seen: str | None) -> None:
        known = self.asking == 0
        must(not known or seen == self.told, "settings read back as they were set", seen, self.told)


class SimSettingsFile:
    """A node's way to the file: it is slow, it refuses, and it ends with the node."""

    def __init__(self, world: "World", node: "Node") -> None:
        self._world = world
        self._node = node

    async def read(self) -> SavedSettings:
        await turn()
        return self._world.settings.content

    async def write(self, kept: SavedSettings) -> None:
        nemesis = self._world.nemesis
        fate = nemesis.fate() if nemesis.is_up_to_something else ""
        if fate == "trouble":
            self._world.ledger.troubles += 1
            raise StorageTrouble("the file cannot be written now")
        await turn()
        if not self._node.dead and fate != "crash before":
            self._world.settings.content = kept
        if fate.startswith("crash") and not nemesis.is_calm:
            self._world.crash(self._node)
        await turn()


class NoProviders:
    """Nobody to tell of a default model: models are the world's own."""

    def prefer(self, model_id: str | None) -> None:
        pass


async def set_model(client: "SimClient") -> None:
    """Another default model; it counts at once, and after every crash."""
    if client.world.script.nodes > 1:
        # Each node keeps what it was told in memory.
        return
    kept = client.world.settings
    model = client.dice.choice((None, *BOTH))
    node = await client.node()
    kept.asking += 1
    now = await node.call(lambda: node.settings.change(PreferenceChange(default_model=model)))
    # Whoever was not answered, or asked meanwhile, leaves it open what counts.
    kept.asking -= 1
    if kept.asking == 0:
        must(now.default_model == model, "an answer tells what was set", now, model)
        kept.told = model
        kept.check(kept.content.default_model)
