"""The file of what was set: its owner's only, whole, and never a riddle."""

import os
import stat
from pathlib import Path

import pytest

from tenuto.core.error import StorageTrouble
from tenuto.core.permission import Permission
from tenuto.core.provider import KeptProvider, ProviderKind
from tenuto.ports.preference import SavedSettings
from tenuto.storage.settings_file import SettingsFile

pytestmark = pytest.mark.anyio

LAB = KeptProvider(
    name="lab", kind=ProviderKind.OPENAI, base_url="http://127.0.0.1:1/v1", key="k-1234567"
)
KEPT = SavedSettings(
    default_model="lab/one",
    titles=False,
    permission_default=Permission.DENY,
    permissions={"shell": Permission.ASK},
    providers=(LAB,),
)


async def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    assert await SettingsFile(path).read() == SavedSettings()
    await SettingsFile(path).write(KEPT)
    assert await SettingsFile(path).read() == KEPT
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["settings.json"]


async def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    await SettingsFile(path).write(KEPT)
    path.chmod(0o644)
    await SettingsFile(path).read()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_a_write_that_fails_leaves_what_was_there_and_no_secret_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.json"
    await SettingsFile(path).write(KEPT)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(StorageTrouble, match="No space left") as caught:
        await SettingsFile(path).write(SavedSettings())
    assert str(tmp_path) not in str(caught.value)
    assert await SettingsFile(path).read() == KEPT
    assert os.listdir(tmp_path) == ["settings.json"]


async def test_what_a_crash_left_half_written_is_removed_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.json"
    someone_elses = tmp_path / ".settings.json.swp"
    someone_elses.touch()

    def crash(*_: object, **__: object) -> None:
        raise OSError

    with monkeypatch.context() as patched, pytest.raises(StorageTrouble):
        patched.setattr(os, "replace", crash)
        patched.setattr(Path, "unlink", crash)
        await SettingsFile(path).write(KEPT)
    assert len(os.listdir(tmp_path)) == 2
    assert await SettingsFile(path).read() == SavedSettings()
    assert os.listdir(tmp_path) == [someone_elses.name]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b'{"titles": 1}',
        b'{"later": true}',
        b'{"providers": [{"name": "Lab", "kind": "openai", "base_url": "http://x"}]}',
    ],
)
async def test_what_makes_no_sense_is_said_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(content)
    with pytest.raises(StorageTrouble, match="makes no sense"):
        await SettingsFile(path).read()
    assert path.read_bytes() == content


def test_a_kept_provider_does_not_show_its_key() -> None:
    assert "k-1234567" not in repr(KEPT)
    assert "k-1234567" not in str(LAB)
