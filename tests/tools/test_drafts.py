"""Drafts: what a server that was killed leaves beside a file, and who removes it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tenuto.agent.tools.files.drafts import NOTES, Drafts
from tests.tools.desk import Desk
from tests.tools.drafting import CONTENT, PATH

pytestmark = pytest.mark.anyio


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    where = tmp_path / "project"
    (where / "made").mkdir(parents=True)
    return where


def leave(how: str, data: Path, folder: Path) -> Path:
    """The draft that a process leaves that is killed before it is in place."""
    with drafting(how, "dying", data, folder) as process:
        assert process.wait(30) == -signal.SIGKILL
    (draft,) = (folder / "made").iterdir()
    return draft


@contextmanager
def drafting(how: str, then: str, data: Path, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "tests.tools.drafting", how, then, str(data), str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def is_there(process: subprocess.Popen[bytes]) -> bool:
    assert process.stdout is not None
    return process.stdout.readline() == b"there\n"


def goes_on_well(process: subprocess.Popen[bytes]) -> bool:
    process.communicate(b"\n", timeout=30)
    return process.returncode == 0


@pytest.mark.guarantee("E8")
@pytest.mark.parametrize("how", ["write", "put"])
async def test_what_a_killed_server_left_beside_a_file_goes_with_the_next_start(
    data: Path, folder: Path, how: str
) -> None:
    draft = leave(how, data, folder)
    assert draft.read_bytes() == CONTENT
    await Drafts(data).sweep()
    assert [*(folder / "made").iterdir()] == []
    assert [*(data / NOTES).iterdir()] == []


async def test_nothing_else_goes_however_it_is_called(data: Path, folder: Path) -> None:
    draft = leave("write", data, folder)
    others = [draft.with_name(f".tenuto-{'0' * 32}"), draft.with_name(".tenuto-0123456789abcdef")]
    for other in others:
        other.write_bytes(b"mine")
    await Drafts(data).sweep()
    assert {*(folder / "made").iterdir()} == {*others}


async def test_the_draft_of_a_server_that_lives_stays(data: Path, folder: Path) -> None:
    with drafting("write", "waiting", data, folder) as process:
        assert is_there(process)
        await Drafts(data).sweep()
        (draft,) = (folder / "made").iterdir()
        assert goes_on_well(process)
    assert [*(folder / "made").iterdir()] == [folder / PATH]
    assert draft != folder / PATH
    assert [*(data / NOTES).iterdir()] == []


async def test_no_link_is_followed_to_it(data: Path, folder: Path, tmp_path: Path) -> None:
    draft = leave("write", data, folder)
    (folder / "made").rename(tmp_path / "outside")
    (folder / "made").symlink_to(tmp_path / "outside")
    await Drafts(data).sweep()
    assert (tmp_path / "outside" / draft.name).read_bytes() == CONTENT
    # What is out of reach now is looked for again.
    (folder / "made").unlink()
    (tmp_path / "outside").rename(folder / "made")
    await Drafts(data).sweep()
    assert [*(folder / "made").iterdir()] == []


async def test_a_workspace_that_is_away_is_looked_at_again(
    data: Path, folder: Path, tmp_path: Path
) -> None:
    leave("write", data, folder)
    os.rename(folder, tmp_path / "away")
    await Drafts(data).sweep()
    os.rename(tmp_path / "away", folder)
    await Drafts(data).sweep()
    assert [*(folder / "made").iterdir()] == []


async def test_half_a_note_is_of_no_draft(data: Path, folder: Path) -> None:
    leave("write", data, folder)
    (note,) = (data / NOTES).iterdir()
    note.write_bytes(note.read_bytes()[:-1])
    await Drafts(data).sweep()
    assert [*(data / NOTES).iterdir()] == []
    assert len([*(folder / "made").iterdir()]) == 1


async def test_a_write_leaves_no_note(data: Path, folder: Path) -> None:
    desk = Desk(folder, data=data, drafts=Drafts(data))
    await desk.run("write_file", path=PATH, content="some words")
    await desk.run("edit_file", path=PATH, old="some", new="more")
    assert [*(folder / "made").iterdir()] == [folder / PATH]
    assert [*(data / NOTES).iterdir()] == []
