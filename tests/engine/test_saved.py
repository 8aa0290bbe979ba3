"""What was set is one truth for every node: nobody's change is lost, and nobody is left behind."""

import logging
from typing import Any, cast

import anyio
import anyio.lowlevel
import msgspec
import pytest
from msgspec.structs import replace

from tenuto.core.error import InvalidInput, ShuttingDown, StorageTrouble
from tenuto.core.permission import Permission
from tenuto.core.provider import KeptProvider, ProviderKind
from tenuto.engine.providers import ProviderDraft, ProviderKeeper
from tenuto.engine.saved import Saved
from tenuto.ports.model import Models
from tenuto.ports.preference import SavedSettings
from tenuto.ports.store import KeptValue
from tests.engine.saving import (
    GlassCipher,
    KnownModels,
    MemorySettings,
    OfferedProviders,
    saved_in,
)

pytestmark = pytest.mark.anyio

URL = "http://127.0.0.1:1/v1"
LAB = ProviderDraft(name="lab", kind=ProviderKind.OPENAI, base_url=URL, key="k-1234567")


def allow(tool: str, now: SavedSettings) -> SavedSettings:
    return replace(now, permissions={**now.permissions, tool: Permission.ALLOW})


async def settled(saved: Saved) -> None:
    """Until it has looked at all that it was rung for."""
    while saved._looking is not None and not saved._looking.done():
        await anyio.lowlevel.checkpoint()


async def test_two_nodes_that_change_different_things_at_once_both_win() -> None:
    store = MemorySettings()
    one, two = saved_in(store), saved_in(store)
    store.may_write.clear()
    async with anyio.create_task_group() as changes:
        changes.start_soon(one.change, lambda now: replace(now, titles=False))
        changes.start_soon(two.change, lambda now: replace(now, default_model="lab/one"))
        await anyio.wait_all_tasks_blocked()
        store.may_write.set()
    assert (store.content.titles, store.content.default_model) == (False, "lab/one")


async def test_many_changes_on_many_nodes_all_stay() -> None:
    store = MemorySettings()
    nodes = [saved_in(store) for _ in range(5)]
    async with anyio.create_task_group() as changes:
        for number in range(30):
            node = nodes[number % 5]
            changes.start_soon(node.change, lambda now, n=number: allow(f"tool{n}", now))
    assert len(store.content.permissions) == 30


async def test_a_change_elsewhere_counts_here_once_it_was_rung() -> None:
    store = MemorySettings()
    here, there = saved_in(store), saved_in(store)
    told: list[bool | None] = []
    here.on_change.append(lambda: told.append(here.now.titles))
    await there.change(lambda now: replace(now, titles=False))
    here.rang("token")
    await settled(here)
    assert here.now == SavedSettings()
    here.rang("settings")
    await settled(here)
    assert here.now.titles is False
    assert told == [False]


async def test_a_provider_that_was_added_or_removed_elsewhere_is_offered_here_or_no_more() -> None:
    store = MemorySettings()
    here, there = saved_in(store), saved_in(store)
    models = cast("Models", KnownModels())
    offered, secrets = OfferedProviders(), list[str]()
    ProviderKeeper(here, offered, models, on_secret=secrets.append)
    keeper = ProviderKeeper(there, OfferedProviders(), models)
    await keeper.put(LAB)
    here.rang("settings")
    await settled(here)
    assert offered.offered["lab"].key == "k-1234567"
    assert secrets == ["k-1234567"]
    await anyio.lowlevel.checkpoint()
    assert offered.refreshes == 1
    await there.change(lambda now: replace(now, titles=False))
    here.rang("settings")
    await settled(here)
    await anyio.lowlevel.checkpoint()
    assert offered.refreshes == 1, "nobody is asked for models when no provider has changed"
    await keeper.remove("lab")
    here.rang("settings")
    await settled(here)
    assert offered.offered == {}


async def test_a_key_is_kept_encrypted_and_bound_to_its_address() -> None:
    store = MemorySettings()
    await ProviderKeeper(saved_in(store), OfferedProviders(), cast("Models", KnownModels())).put(
        LAB
    )
    assert store.body is not None
    body: dict[str, Any] = msgspec.json.decode(store.body)
    (kept,) = body["providers"]
    assert "key" not in kept
    assert kept["encrypted"] == f"glass|lab {URL}|k-1234567"
    kept["base_url"] = "http://127.0.0.1:2/v1"
    store.body = msgspec.json.encode(body)
    with pytest.raises(StorageTrouble):
        await saved_in(store).begin()


async def test_another_secret_stops_the_start_and_destroys_nothing() -> None:
    store = MemorySettings()
    lab = KeptProvider(name="lab", kind=ProviderKind.OPENAI, base_url=URL, key="k-1234567")
    await saved_in(store).change(lambda now: replace(now, providers=(lab,)))
    before = store.body
    other = Saved(store, GlassCipher("other"))
    with pytest.raises(StorageTrouble, match="another secret"):
        await other.begin()
    with pytest.raises(StorageTrouble, match="another secret"):
        await other.change(lambda now: replace(now, titles=False))
    assert store.body == before


async def test_a_node_that_cannot_open_what_was_set_goes_on_with_what_it_knew(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = MemorySettings()
    here, there = saved_in(store), Saved(store, GlassCipher("other"))
    await here.change(lambda now: replace(now, titles=False))
    lab = KeptProvider(name="lab", kind=ProviderKind.OPENAI, base_url=URL, key="k-1234567")
    before = store.body
    store.body, store.rev = None, 0
    await there.change(lambda now: replace(now, providers=(lab,)))
    store.rev = 2
    with caplog.at_level(logging.WARNING, logger="tenuto"):
        here.rang("settings")
        await anyio.wait_all_tasks_blocked()
    assert here.now.titles is False
    assert "does not count here yet" in caplog.text
    assert "k-1234567" not in caplog.text
    store.body, store.rev = before, 3
    here.rang("settings")
    await settled(here)
    assert here.now.titles is False


async def test_what_is_refused_is_not_kept_and_comes_out() -> None:
    store = MemorySettings()

    def refuse(now: SavedSettings) -> SavedSettings:
        raise InvalidInput("no")

    with pytest.raises(InvalidInput):
        await saved_in(store).change(refuse)
    assert store.body is None


async def test_what_a_newer_version_wrote_stays() -> None:
    store = MemorySettings()
    provider = {"name": "lab", "kind": "openai", "base_url": URL, "newer": 1}
    store.body = msgspec.json.encode({"newer": {"x": 1}, "providers": [provider]})
    store.rev = 1
    await saved_in(store).change(lambda now: replace(now, titles=False))
    body = msgspec.json.decode(store.body)
    assert (body["newer"], body["titles"]) == ({"x": 1}, False)
    assert body["providers"][0]["newer"] == 1


@pytest.mark.parametrize("body", [b"", b"[]", b'{"titles": 1}', b'{"providers": [1]}', b"\xff"])
async def test_what_makes_no_sense_is_said_and_left_alone(body: bytes) -> None:
    store = MemorySettings()
    store.body, store.rev = body, 1
    with pytest.raises(StorageTrouble, match="make no sense"):
        await saved_in(store).begin()
    assert store.body == body


async def test_after_a_write_whose_answer_was_lost_it_looks_what_is_so() -> None:
    class Forgetful(MemorySettings):
        async def keep(self, name: str, body: bytes, *, rev: int) -> int:
            await super().keep(name, body, rev=rev)
            raise StorageTrouble("the answer was lost")

    store = Forgetful()
    saved = saved_in(store)
    with pytest.raises(StorageTrouble):
        await saved.change(lambda now: replace(now, titles=False))
    await settled(saved)
    assert saved.now.titles is False


async def test_a_stop_lets_a_change_come_to_its_end_and_takes_no_more() -> None:
    store = MemorySettings()
    saved = saved_in(store)
    store.may_write.clear()
    async with anyio.create_task_group() as group:
        group.start_soon(saved.change, lambda now: replace(now, titles=False))
        await store.writing.wait()
        group.start_soon(saved.stop)
        await anyio.wait_all_tasks_blocked()
        store.may_write.set()
    assert store.content.titles is False
    with pytest.raises(ShuttingDown):
        await saved.change(lambda now: replace(now, titles=True))


async def test_a_look_that_was_slow_does_not_bring_back_what_was_set_before() -> None:
    class SlowToTell(MemorySettings):
        def __init__(self) -> None:
            super().__init__()
            self.may_tell = anyio.Event()
            self.may_tell.set()

        async def kept(self, name: str) -> KeptValue | None:
            found, may_tell = await super().kept(name), self.may_tell
            await may_tell.wait()
            return found

    store = SlowToTell()
    here, there = saved_in(store), saved_in(store)
    await there.change(lambda now: replace(now, default_model="lab/one"))
    store.may_tell = held = anyio.Event()
    here.rang("settings")
    await anyio.wait_all_tasks_blocked()
    store.may_tell = anyio.Event()
    store.may_tell.set()
    await here.change(lambda now: replace(now, titles=False))
    held.set()
    await settled(here)
    assert (here.now.titles, here.now.default_model) == (False, "lab/one")
