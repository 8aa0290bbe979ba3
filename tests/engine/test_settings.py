"""Preferences count at once, are kept before they count, and yield to what is fixed."""

from typing import cast

import anyio
import pytest

from tenuto.core.error import InvalidInput, ModelNotFound, StorageTrouble
from tenuto.core.permission import Permission
from tenuto.engine.kit import FixedTools
from tenuto.engine.saved import Saved
from tenuto.engine.settings import PreferenceChange, SettingsKeeper
from tenuto.ports.model import Models
from tenuto.ports.preference import Preferences, SavedSettings
from tests.engine.saving import KnownModels, MemorySettings, OfferedProviders, saved_in
from tests.engine.test_toolbox import HeldTool

pytestmark = pytest.mark.anyio

CONFIGURED = Preferences(default_model=None, titles=True, permission_default=Permission.ASK)


def keeper(saved: Saved, providers: OfferedProviders | None = None, **fixed: str) -> SettingsKeeper:
    return SettingsKeeper(
        saved,
        providers or OfferedProviders(),
        cast("Models", KnownModels()),
        FixedTools(HeldTool(), HeldTool("change")),
        configured=CONFIGURED,
        fixed=fixed,
    )


async def test_what_is_not_set_is_as_configured_and_what_is_set_counts_at_once() -> None:
    file, providers = MemorySettings(), OfferedProviders()
    settings = keeper(saved_in(file), providers)
    assert settings.preferences == CONFIGURED
    change = PreferenceChange(default_model="lab/one", titles=False)
    now = await settings.change(change)
    assert (now.default_model, now.titles) == ("lab/one", False)
    assert settings.preferences == now
    assert (file.content.default_model, file.content.titles) == ("lab/one", False)
    assert providers.preferred == ["lab/one"]


async def test_none_gives_a_preference_back_and_what_is_not_named_stays() -> None:
    settings = keeper(saved_in(MemorySettings()))
    await settings.change(PreferenceChange(default_model="lab/one", titles=False))
    now = await settings.change(PreferenceChange(titles=None))
    assert (now.default_model, now.titles) == ("lab/one", True)


async def test_each_tool_has_its_own_permission_until_it_is_taken_back() -> None:
    settings = keeper(saved_in(MemorySettings()))
    look, change = settings.tools["look"], settings.tools["change"]
    assert (settings.permission(look), settings.permission(change)) == ("allow", "ask")
    rules = {"look": Permission.DENY, "change": Permission.ALLOW}
    await settings.change(PreferenceChange(permissions={**rules}))
    assert (settings.permission(look), settings.permission(change)) == ("deny", "allow")
    await settings.change(PreferenceChange(permissions={"look": None}))
    assert (settings.permission(look), settings.permission(change)) == ("allow", "allow")


async def test_the_next_process_takes_up_what_was_kept() -> None:
    file = MemorySettings()
    await keeper(saved_in(file)).change(PreferenceChange(default_model="lab/one"))
    saved, providers = saved_in(file), OfferedProviders()
    settings = keeper(saved, providers)
    await saved.begin()
    assert settings.preferences.default_model == "lab/one"
    assert providers.preferred == ["lab/one"]


async def test_what_cannot_be_kept_does_not_count() -> None:
    file = MemorySettings()
    settings = keeper(saved_in(file))
    file.is_full = True
    with pytest.raises(StorageTrouble):
        await settings.change(PreferenceChange(titles=False))
    assert settings.preferences == CONFIGURED


@pytest.mark.parametrize(
    "change",
    [
        PreferenceChange(titles=False),
        PreferenceChange(permissions={"none": Permission.ALLOW}),
        PreferenceChange(default_model="lab/none"),
    ],
)
async def test_what_is_fixed_or_not_there_is_refused_and_nothing_is_kept(
    change: PreferenceChange,
) -> None:
    file = MemorySettings()
    settings = keeper(saved_in(file), titles="TENUTO_TITLES")
    with pytest.raises((InvalidInput, ModelNotFound)):
        await settings.change(change)
    assert file.content == SavedSettings()


async def test_two_changes_at_once_both_stay() -> None:
    file = MemorySettings()
    settings = keeper(saved_in(file))
    file.may_write.clear()
    async with anyio.create_task_group() as changes:
        changes.start_soon(settings.change, PreferenceChange(titles=False))
        await file.writing.wait()
        changes.start_soon(settings.change, PreferenceChange(default_model="lab/one"))
        await anyio.wait_all_tasks_blocked()
        file.may_write.set()
    assert (file.content.titles, file.content.default_model) == (False, "lab/one")


async def test_a_caller_who_hangs_up_leaves_the_file_and_the_server_of_one_mind() -> None:
    file = MemorySettings()
    settings = keeper(saved_in(file))
    file.may_write.clear()
    async with anyio.create_task_group() as caller:
        caller.start_soon(settings.change, PreferenceChange(titles=False))
        await file.writing.wait()
        caller.cancel_scope.cancel()
        file.may_write.set()
    assert file.content.titles is settings.preferences.titles is False
