"""Providers that are added and removed: kept before they are offered, keys that stay at home."""

from typing import cast

import pytest
from msgspec.structs import replace

from tenuto.core.error import Forbidden, InvalidInput, NotFound, StorageTrouble
from tenuto.core.provider import ProviderKind, ProviderSource
from tenuto.engine.providers import ProviderDraft, ProviderKeeper
from tenuto.ports.model import Models
from tenuto.ports.preference import SavedSettings
from tenuto.ports.provider import ProviderAccess
from tests.engine.saving import KnownModels, MemorySettings, OfferedProviders, saved_in

pytestmark = pytest.mark.anyio

URL = "http://127.0.0.1:1/v1"
LAB = ProviderDraft(name="lab", kind=ProviderKind.OPENAI, base_url=URL, key="k-1234567")


def keeper(
    file: MemorySettings, providers: OfferedProviders, secrets: list[str] | None = None
) -> ProviderKeeper:
    learnt = [] if secrets is None else secrets
    models = cast("Models", KnownModels())
    return ProviderKeeper(saved_in(file), providers, models, on_secret=learnt.append)


async def test_a_provider_is_kept_offered_and_shown_without_its_key() -> None:
    file, providers, secrets = MemorySettings(), OfferedProviders(), list[str]()
    standing = await keeper(file, providers, secrets).put(LAB)
    assert (standing.name, standing.has_key, standing.base_url) == ("lab", True, URL)
    assert "k-1234567" not in repr(standing)
    assert [provider.key for provider in file.content.providers] == ["k-1234567"]
    assert list(providers.offered) == ["lab"]
    assert set(secrets) == {"k-1234567"}


async def test_what_cannot_be_kept_is_not_offered() -> None:
    file, providers = MemorySettings(), OfferedProviders()
    file.is_full = True
    with pytest.raises(StorageTrouble):
        await keeper(file, providers).put(LAB)
    assert providers.offered == {}


async def test_a_key_that_is_not_given_again_stays_and_stays_with_its_address() -> None:
    file, providers = MemorySettings(), OfferedProviders()
    lab = keeper(file, providers)
    await lab.put(LAB)
    await lab.put(ProviderDraft(name="lab", models=("one",)))
    assert (file.content.providers[0].key, file.content.providers[0].models) == (
        "k-1234567",
        ("one",),
    )
    with pytest.raises(InvalidInput):
        await lab.put(ProviderDraft(name="lab", base_url="http://127.0.0.1:2/v1"))
    await lab.put(ProviderDraft(name="lab", key=None))
    assert file.content.providers[0].key == ""


async def test_one_that_is_removed_takes_its_key_and_the_default_with_it() -> None:
    file, providers = MemorySettings(), OfferedProviders()
    saved = saved_in(file)
    await saved.change(lambda now: replace(now, default_model="lab/one"))
    lab = ProviderKeeper(saved, providers, cast("Models", KnownModels()))
    await lab.put(LAB)
    await lab.remove("lab")
    assert file.content == SavedSettings()
    assert providers.offered == {}
    with pytest.raises(NotFound):
        await lab.remove("lab")


async def test_one_that_the_environment_gave_cannot_be_changed_or_removed() -> None:
    given = ProviderAccess(
        kind=ProviderKind.OPENAI, base_url=URL, key="k", source=ProviderSource.ENVIRONMENT
    )
    file, providers = MemorySettings(), OfferedProviders(("lab", given))
    lab = keeper(file, providers)
    with pytest.raises(Forbidden):
        await lab.put(LAB)
    with pytest.raises(Forbidden):
        await lab.remove("lab")
    assert file.content == SavedSettings()


async def test_a_try_keeps_nothing_and_uses_the_key_that_is_known() -> None:
    file, providers = MemorySettings(), OfferedProviders()
    lab = keeper(file, providers)
    await lab.put(LAB)
    before = file.content
    assert (await lab.test(ProviderDraft(name="lab"))).ok
    assert [tried.key for tried in providers.tried] == ["k-1234567"]
    assert file.content == before


async def test_those_that_were_kept_are_offered_at_the_next_start() -> None:
    file = MemorySettings()
    await keeper(file, OfferedProviders()).put(LAB)
    saved, providers, secrets = saved_in(file), OfferedProviders(), list[str]()
    models = cast("Models", KnownModels())
    ProviderKeeper(saved, providers, models, on_secret=secrets.append)
    await saved.begin()
    assert list(providers.offered) == ["lab"]
    assert secrets == ["k-1234567"]
