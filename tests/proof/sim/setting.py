"""Settings that are changed while everyone works: what was answered counts, and is kept."""

from typing import TYPE_CHECKING

import msgspec

from tenuto.engine.saved import SETTINGS
from tenuto.engine.settings import PreferenceChange
from tenuto.storage.memory import MemoryStore
from tests.proof.sim.model import BOTH
from tests.proof.sim.violation import must

if TYPE_CHECKING:
    from tests.proof.sim.client import SimClient


class KeptSettings:
    """What clients were told of what the store keeps."""

    def __init__(self) -> None:
        self.told: str | None = None
        """The default model by the last answer."""
        self.asked = 0
        self.asking = 0
        """Changes that are under way, or whose answer was lost: nobody knows what is so."""
        self.known = True
        """Not after changes at once: nobody knows which was the last."""

    def check(self, seen: str | None) -> None:
        known = self.known and self.asking == 0
        must(not known or seen == self.told, "settings read back as they were set", seen, self.told)


class NothingToHide:
    """No provider has a key here."""

    def encrypt(self, text: str, *, about: str) -> str:
        raise NotImplementedError

    def decrypt(self, encrypted: str, *, about: str) -> str:
        raise NotImplementedError


class NoProviders:
    """Nobody to tell of a default model: models are the world's own."""

    def prefer(self, model_id: str | None) -> None:
        pass


async def set_model(client: "SimClient") -> None:
    """Another default model; it counts at once, on every node that starts, after every crash."""
    kept = client.world.settings
    model = client.dice.choice((None, *BOTH))
    node = await client.node()
    kept.known = kept.asking == 0
    kept.asking += 1
    kept.asked += 1
    asked = kept.asked
    now = await node.call(lambda: node.settings.change(PreferenceChange(default_model=model)))
    must(now.default_model == model, "an answer tells what was set", now, model)
    kept.asking -= 1
    if kept.known and asked == kept.asked:
        kept.told = model
        kept.check(await _stored(client.world.store))


async def _stored(store: MemoryStore) -> str | None:
    stored = await store.kept(SETTINGS)
    assert stored is not None
    model: str | None = msgspec.json.decode(stored.body)["default_model"]
    return model
