"""No path leaves the workspace, by whatever door."""

import os
import shutil
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from tenuto.ports.tool import ToolFailed
from tests.tools.desk import Desk

pytestmark = pytest.mark.anyio

CALLS = {
    "read_file": {},
    "list_files": {},
    "search_files": {"pattern": "."},
    "write_file": {"content": "x"},
    "edit_file": {"old": "secret", "new": "x"},
}


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    outside = tmp_path / "outside"
    outside.mkdir()
    file = outside / "secret.txt"
    file.write_text("secret")
    return file


@pytest.mark.parametrize("tool", CALLS)
async def test_no_tool_follows_a_path_out_of_the_workspace(
    desk: Desk, secret: Path, tool: str
) -> None:
    (desk.folder / "link").symlink_to(secret)
    (desk.folder / "door").symlink_to(secret.parent)
    (desk.folder / "sub").mkdir()
    ways = ["../outside/secret.txt", "sub/../../outside", str(secret), "link", "door/secret.txt"]
    for way in [*ways, "door", "/", "..", "/etc/passwd", "door/new.txt"]:
        said = await desk.failure(tool, path=way, **CALLS[tool])
        assert said == f"{way} is outside the workspace. Use a path inside it."
    assert _text(secret) == "secret"
    assert os.listdir(secret.parent) == ["secret.txt"]


async def test_a_folder_with_the_same_beginning_is_outside(desk: Desk) -> None:
    twin = desk.folder.with_name("workspace-2")
    twin.mkdir()
    (twin / "a").write_text("secret")
    assert "outside the workspace" in await desk.failure("read_file", path=str(twin / "a"))


async def test_absolute_paths_and_links_that_stay_inside_are_fine(desk: Desk) -> None:
    (desk.folder / "real.txt").write_text("hello")
    (desk.folder / "link.txt").symlink_to("real.txt")
    for path in (str(desk.folder / "real.txt"), "link.txt", "./real.txt", "x/../real.txt"):
        assert "hello" in await desk.run("read_file", path=path)


async def test_a_workspace_that_is_itself_a_link_works(tmp_path: Path, desk: Desk) -> None:
    (desk.folder / "a.txt").write_text("hello")
    linked = tmp_path / "linked"
    linked.symlink_to(desk.folder)
    assert "hello" in await Desk(linked).run("read_file", path="a.txt")
    assert "hello" in await Desk(linked).run("read_file", path=str(linked / "a.txt"))


async def test_writing_through_a_link_inside_keeps_the_link(desk: Desk) -> None:
    (desk.folder / "real.txt").write_text("old")
    (desk.folder / "link.txt").symlink_to("real.txt")
    await desk.run("read_file", path="link.txt")
    await desk.run("write_file", path="link.txt", content="new")
    assert (desk.folder / "link.txt").is_symlink()
    assert (desk.folder / "real.txt").read_text() == "new"


@pytest.mark.parametrize("tool", ["read_file", "write_file", "edit_file"])
async def test_pipes_and_folders_are_refused_and_nothing_hangs(desk: Desk, tool: str) -> None:
    os.mkfifo(desk.folder / "pipe")
    (desk.folder / "sub").mkdir()
    assert await desk.failure(tool, path="pipe", **CALLS[tool]) == "pipe is not a regular file."
    assert "sub is a folder" in await desk.failure(tool, path="sub", **CALLS[tool])
    assert ". is a folder" in await desk.failure(tool, path=".", **CALLS[tool])


async def test_a_search_over_pipes_links_and_closed_doors_goes_on(desk: Desk, secret: Path) -> None:
    os.mkfifo(desk.folder / "pipe")
    (desk.folder / "link").symlink_to(secret)
    (desk.folder / "door").symlink_to(secret.parent)
    (desk.folder / "ring").symlink_to(".")
    (desk.folder / "mine.txt").write_text("no secret here")
    assert await desk.run("search_files", pattern="secret") == "mine.txt:1: no secret here"


@pytest.mark.parametrize("swapped", ["the file", "its folder"])
async def test_a_link_put_in_place_between_check_and_use_never_leads_out(
    desk: Desk, secret: Path, swapped: str
) -> None:
    (desk.folder / "sub").mkdir()
    (desk.folder / "sub" / "secret.txt").write_text("harmless")
    over = threading.Event()
    swapper = threading.Thread(target=_swap, args=(desk.folder, secret, swapped, over))
    swapper.start()
    seen = set()
    try:
        for turn in range(1500):
            tool = "write_file" if turn % 10 == 0 else "read_file"
            more = {"content": "harmless"} if tool == "write_file" else {}
            seen.add(await _outcome(desk, tool, {"path": "sub/secret.txt", **more}))
    finally:
        over.set()
        swapper.join()
    assert not any("\tsecret" in text for text in seen)
    assert _text(secret) == "secret"
    assert sorted(os.listdir(secret.parent)) == ["secret.txt"]
    assert any("harmless" in text for text in seen)


@pytest.mark.parametrize("path", ["", "a\0b", "half\ud83d"])
async def test_a_path_that_no_file_can_have_is_refused(desk: Desk, path: str) -> None:
    assert (await desk.failure("read_file", path=path)).startswith("The path")


async def test_errors_name_the_path_as_it_was_given_and_nothing_of_the_server(desk: Desk) -> None:
    (desk.folder / "loop").symlink_to("loop")
    (desk.folder / "file").write_text("x")
    said = [
        await desk.failure("read_file", path="./gone.txt"),
        await desk.failure("read_file", path="loop"),
        await desk.failure("read_file", path="file/below"),
        await desk.failure("write_file", path="file/below", content="x"),
        await desk.failure("list_files", path="nowhere"),
        await desk.failure("list_files", path="file"),
        await desk.failure("read_file", path="x" * 300),
    ]
    assert said[0] == "./gone.txt: No such file or directory"
    assert said[4] == "nowhere: No such file or directory"
    assert said[5] == "file is not a folder."
    assert not any(str(desk.folder) in text or "Traceback" in text for text in said)


def _text(file: Path) -> str:
    return file.read_text()


async def _outcome(desk: Desk, tool: str, arguments: dict[str, str]) -> str:
    try:
        return await desk.run(tool, **arguments)
    except ToolFailed as error:
        return str(error)


def _swap(folder: Path, secret: Path, what: str, over: threading.Event) -> None:
    """Exchange the real thing for a link that leads out, and back, as fast as it goes."""
    if what == "the file":
        real, target = folder / "sub" / "secret.txt", secret
    else:
        real, target = folder / "sub", secret.parent
    link, aside = folder / "link", folder / "aside"
    while not over.is_set():
        link.symlink_to(target)
        os.rename(real, aside)
        _put(link, real)
        os.unlink(real)
        _put(aside, real)


def _put(thing: Path, place: Path) -> None:
    """Move it there, also if a write that found no folder has made one meanwhile."""
    while os.path.lexists(thing):
        shutil.rmtree(place, ignore_errors=True)
        with suppress(OSError):
            os.rename(thing, place)
