"""What commands change is seen; what git has of it is read without running git."""

import os
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tenuto.agent.tools.files.witnesses import Witnesses
from tenuto.agent.tools.processes.programs.git_objects import Index, content_of
from tenuto.agent.tools.processes.programs.witness import digest, read, stamp_of
from tenuto.core.value import CallId, RunId
from tenuto.ports.changes import Deed, FoundChange, Writing
from tenuto.ports.tool import Place
from tests.support.seed import seed_of
from tests.tools.desk import until

pytestmark = pytest.mark.anyio


class Told:
    """Hears of changes."""

    def __init__(self, owner: str = "run_1") -> None:
        self.owner = RunId(owner)
        self.changes: list[FoundChange] = []

    async def replace(self, writing: Writing, deed: Deed) -> None:
        await deed.do()

    async def found(self, changes: Sequence[FoundChange]) -> None:
        self.changes += changes


def place(folder: Path, told: Told, run: str = "run_1") -> Place:
    return Place(
        folder=folder,
        run_id=RunId(run),
        call_id=CallId("call"),
        progress=lambda _: None,
        changes=told,
    )


def git(folder: Path, *words: str) -> str:
    env = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
    who = ("-c", "user.name=x", "-c", "user.email=x@y")
    done = subprocess.run(
        ["git", *who, *words], cwd=folder, check=True, capture_output=True, env=env, text=True
    )
    return done.stdout


@pytest.mark.parametrize("version", ["2", "4"])
def test_what_git_has_is_read_as_git_would(tmp_path: Path, version: str) -> None:
    """Loose, packed, and packed as changes of changes."""
    dice = random.Random(seed_of("git"))
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "index.version", version)
    lines = [f"line {n} {dice.random()}" for n in range(2_000)]
    (tmp_path / "a folder").mkdir()
    contents: list[bytes] = []
    for turn in range(12):
        lines[dice.randrange(len(lines))] = f"turn {turn}"
        (tmp_path / "a folder/växer.txt").write_text("\n".join(lines))
        (tmp_path / f"file{turn}").write_bytes(dice.randbytes(turn * 100))
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-qm", f"turn {turn}")
        contents.append((tmp_path / "a folder/växer.txt").read_bytes())
    names = [
        git(tmp_path, "rev-parse", f"HEAD~{back}:a folder/växer.txt").strip()
        for back in reversed(range(12))
    ]
    assert [content_of(str(tmp_path), name) for name in names] == contents
    git(tmp_path, "repack", "-adqf", "--depth=50")
    assert not list((tmp_path / ".git/objects").glob("[0-9a-f][0-9a-f]"))
    assert [content_of(str(tmp_path), name) for name in names] == contents
    # Git is sure of a file only if it was written well before its index.
    for path in tmp_path.rglob("*"):
        if ".git" not in path.parts and path.is_file():
            os.utime(path, (1e9, 1e9))
    git(tmp_path, "update-index", "--refresh")
    index = Index(str(tmp_path))
    index.look()
    for name in ("a folder/växer.txt", *(f"file{n}" for n in range(12))):
        said = git(tmp_path, "rev-parse", f"HEAD:{name}").strip()
        assert index.clean(name, os.lstat(tmp_path / name)) == said
    (tmp_path / "file3").write_bytes(b"other")
    assert index.clean("file3", os.lstat(tmp_path / "file3")) is None
    assert content_of(str(tmp_path), "0" * 40) is None


async def test_only_what_changed_meanwhile_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    (tmp_path / "node_modules").mkdir()
    witnesses, told = Witnesses(), Told()
    async with witnesses.watching(place(tmp_path, told)):
        (tmp_path / "node_modules/x").write_text("x")
    assert told.changes == []
    # By somebody else, between two commands.
    (tmp_path / "a").write_text("mine")
    async with witnesses.watching(place(tmp_path, told)) as window:
        (tmp_path / "b").write_text("b2")
        witnesses.told(tmp_path, "c")
        (tmp_path / "c").write_text("told by its tool")
    assert window.changed == ("b",)
    [change] = told.changes
    assert change.old is not None and change.new is not None
    assert (change.path, change.old.content, change.new.content) == ("b", b"b", b"b2")
    await witnesses.close()


async def test_a_link_on_the_way_leads_nobody_out(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "inside"
    for where in (outside, folder, folder / "sub"):
        where.mkdir()
    (outside / "secret").write_text("secret")
    (folder / "sub/secret").write_text("mine")
    witnesses, told = Witnesses(), Told()
    async with witnesses.watching(place(folder, told)):
        (folder / "sub").rename(folder / "was")
        (folder / "sub").symlink_to(outside)
    found = {one.path: one.new and one.new.content for one in told.changes}
    assert found == {"sub/secret": None, "was/secret": b"mine", "sub": os.fsencode(outside)}
    await witnesses.close()


async def test_a_witness_goes_when_nobody_is_left_to_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tenuto.agent.tools.files.witnesses.IDLE_SECONDS", 0.05)
    witnesses, told = Witnesses(), Told()
    async with witnesses.watching(place(tmp_path, told)):
        assert watchers(tmp_path)
    await until(lambda: not watchers(tmp_path))
    await witnesses.close()


def watchers(folder: Path) -> list[int]:
    """Living witnesses of this folder."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = Path(f"/proc/{name}/cmdline").read_bytes()
            state = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if b"witness.py" in line and os.fsencode(folder) in line and state != "Z":
            found.append(int(name))
    return found


def test_what_is_opened_is_what_was_seen(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "inside"
    for where in (outside, folder, folder / "sub"):
        where.mkdir()
    (outside / "file").write_text("secret")
    (folder / "sub/file").write_text("mine..")
    stamp = stamp_of(os.lstat(folder / "sub/file"))
    assert read(str(folder), "sub/file", stamp) == b"mine.."
    (folder / "sub").rename(folder / "was")
    (folder / "sub").symlink_to(outside)
    assert read(str(folder), "sub/file", stamp) is None
    assert digest(str(folder), "sub/file", stamp) == ""
