"""The file of an earlier version: taken over once, whatever happens in the middle, then gone."""

import os
from pathlib import Path

import pytest

from tenuto.config import Settings
from tenuto.core.error import StorageTrouble
from tenuto.core.permission import Permission
from tenuto.core.provider import KeptProvider, ProviderKind
from tenuto.engine.saved import Saved
from tenuto.ports.points import NOWHERE, Points, Step
from tenuto.ports.preference import SavedSettings
from tenuto.storage.memory import MemoryStore
from tenuto.wiring import translate
from tests.conformance.listener import Listener
from tests.engine.saving import GlassCipher

pytestmark = pytest.mark.anyio

FROZEN = Path(__file__).with_name("settings_of_0_1.json")
"""As version 0.1 wrote it."""
MEANT = SavedSettings(
    default_model="lab/one",
    titles=False,
    permission_default=Permission.DENY,
    permissions={"shell": Permission.ASK},
    providers=(
        KeptProvider(
            name="lab",
            kind=ProviderKind.OPENAI,
            base_url="http://127.0.0.1:1/v1",
            key="k-1234567",
        ),
    ),
)


class DiesAt:
    armed = True

    def __init__(self, step: Step) -> None:
        self._step = step

    def reach(self, step: Step, what: str = "") -> None:
        if step is self._step:
            raise InterruptedError(f"died at {step}: {what}")


async def start(data: Path, store: MemoryStore, points: Points = NOWHERE) -> Saved:
    """As the server does."""
    saved = Saved(store, GlassCipher(), points=points)
    await saved.begin()
    await translate.take_over(Settings(data=data), saved)
    return saved


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "settings.json").write_bytes(FROZEN.read_bytes())
    (tmp_path / ".settings.json.0123456789abcdef").write_text("k-1234567")
    (tmp_path / ".settings.json.swp").touch()
    return tmp_path


async def test_it_is_taken_over_and_nothing_of_it_is_left(data: Path) -> None:
    store = MemoryStore(Listener())
    assert (await start(data, store)).now == MEANT
    assert os.listdir(data) == [".settings.json.swp"]
    assert (await start(data, store)).now == MEANT


@pytest.mark.parametrize("step", [Step.KEEPING, Step.KEPT])
async def test_a_death_in_the_middle_loses_nothing(data: Path, step: Step) -> None:
    store = MemoryStore(Listener())
    with pytest.raises(InterruptedError):
        await start(data, store, DiesAt(step))
    assert (data / "settings.json").exists()
    assert (await start(data, store)).now == MEANT
    assert os.listdir(data) == [".settings.json.swp"]


async def test_what_is_in_the_store_already_wins_and_the_file_is_put_aside(data: Path) -> None:
    store = MemoryStore(Listener())
    await Saved(store, GlassCipher()).change(lambda now: SavedSettings(titles=True))
    assert (await start(data, store)).now == SavedSettings(titles=True)
    assert (data / "settings.json.old").read_bytes() == FROZEN.read_bytes()
    assert (data / "settings.json.old").stat().st_mode & 0o777 == 0o600
    assert not (data / "settings.json").exists()


async def test_memory_does_not_take_what_lasts(data: Path) -> None:
    saved = Saved(MemoryStore(Listener()), GlassCipher())
    await translate.take_over(Settings(data=data, database="memory:"), saved)
    assert saved.now == SavedSettings()
    assert (data / "settings.json").exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b'{"titles": 1}',
        b'{"providers": [{"name": "Lab", "kind": "openai", "base_url": "http://x"}]}',
    ],
)
async def test_what_makes_no_sense_is_said_and_left_alone(data: Path, content: bytes) -> None:
    (data / "settings.json").write_bytes(content)
    with pytest.raises(StorageTrouble, match="makes no sense"):
        await start(data, MemoryStore(Listener()))
    assert (data / "settings.json").read_bytes() == content
