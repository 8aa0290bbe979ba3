"""File tools against hostile trees, paths and files, and the server's own folder."""

import asyncio
import os
import threading
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from tenuto.agent.tools.files import replacing
from tests.tools.desk import Desk, until

pytestmark = pytest.mark.anyio

CALLS = {
    "read_file": {},
    "list_files": {},
    "search_files": {"pattern": "."},
    "write_file": {"content": "x"},
    "edit_file": {"old": "secret", "new": "x"},
}
CLOSED = "That is in the server's own data folder, which tools may not look into."


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with a server's data folder somewhere in it."""
    data = tmp_path / "share" / "tenuto"
    (data / "workspace" / "sub").mkdir(parents=True)
    (data / "models").mkdir()
    for name in ("token", "settings.json", "models/m", "workspace/w.txt", "workspace/sub/s.txt"):
        (data / name).write_text("secret")
    (tmp_path / "mine.txt").write_text("mine")
    return tmp_path


@pytest.mark.parametrize("tool", CALLS)
async def test_no_tool_reaches_into_the_servers_own_folder_from_a_workspace_above(
    home: Path, tool: str
) -> None:
    desk = Desk(home, data=home / "share/tenuto")
    (home / "door").symlink_to("share/tenuto")
    (home / "key").symlink_to("share/tenuto/token")
    ways = ["share/tenuto/token", "share/tenuto/models/m", "door/token", "door/models", "key"]
    if tool in ("read_file", "write_file", "edit_file"):
        ways += ["share/tenuto/none", "door/new/file", str(home / "share/tenuto/settings.json")]
    for way in ways:
        assert await desk.failure(tool, path=way, **CALLS[tool]) == CLOSED
    assert sorted(os.listdir(home / "share/tenuto")) == [
        "models",
        "settings.json",
        "token",
        "workspace",
    ]


async def test_the_workspace_in_the_servers_folder_is_open_from_everywhere(home: Path) -> None:
    data = home / "share/tenuto"
    for folder, path in (
        (home, "share/tenuto/workspace/w.txt"),
        (data, "workspace/w.txt"),
        (data / "workspace", "w.txt"),
        (data / "workspace/sub", "s.txt"),
    ):
        assert "secret" in await Desk(folder, data=data).run("read_file", path=path)


async def test_listing_and_searching_leave_out_the_servers_own_files(home: Path) -> None:
    data = home / "share/tenuto"
    desk = Desk(home, data=data)
    names = ["mine.txt", "share/tenuto/workspace/sub/s.txt", "share/tenuto/workspace/w.txt"]
    assert (await desk.run("list_files")).splitlines() == names
    found = await desk.run("search_files", pattern="secret")
    assert [line.split(":")[0] for line in found.splitlines()] == names[1:]
    desk = Desk(data, data=data)
    assert (await desk.run("list_files")).splitlines() == ["workspace/sub/s.txt", "workspace/w.txt"]


@pytest.mark.parametrize("tool", CALLS)
async def test_a_workspace_that_lies_in_the_servers_own_folder_is_closed(
    home: Path, tool: str
) -> None:
    desk = Desk(home / "share/tenuto/models", data=home / "share/tenuto")
    assert await desk.failure(tool, path="m", **CALLS[tool]) == CLOSED


async def test_the_servers_own_folder_is_known_by_whatever_name_it_was_given(home: Path) -> None:
    (home / "alias").symlink_to("share")
    desk = Desk(home, data=home / "alias/tenuto")
    assert await desk.failure("read_file", path="share/tenuto/token") == CLOSED
    assert "token" not in await desk.run("list_files")


@pytest.mark.guarantee("E1")
@pytest.mark.parametrize("tool", CALLS)
async def test_a_path_without_end_is_refused(tmp_path: Path, tool: str) -> None:
    desk = Desk(tmp_path)
    said = await desk.failure(tool, path="a/" * 6000 + "b", **CALLS[tool])
    assert said == "The path is too long: it may have 4,096 bytes."
    said = await desk.failure(tool, path="a/" * 201 + "b", **CALLS[tool])
    assert said == "The path is too deep: it may have 200 levels."
    assert os.listdir(tmp_path) == []


async def test_a_path_as_deep_as_may_be_is_written_and_read(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    deep = "a/" * 199 + "b"
    await desk.run("write_file", path=deep, content="deep")
    assert "deep" in await desk.run("read_file", path=deep)


async def test_a_chain_of_links_without_end_is_refused(tmp_path: Path) -> None:
    for number in range(1500):
        (tmp_path / f"l{number}").symlink_to(f"l{number + 1}")
    said = await Desk(tmp_path).failure("read_file", path="l0")
    assert said == "The path leads through too many links."


@pytest.mark.guarantee("E1")
async def test_a_cancel_gets_through_while_the_disk_hangs_and_nothing_is_written_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(tmp_path)
    (tmp_path / "a.txt").write_text("old")
    await desk.run("read_file", path="a.txt")
    hangs, goes_on, over = threading.Event(), threading.Event(), threading.Event()
    write = replacing._write

    def slow(*given: object) -> None:
        hangs.set()
        goes_on.wait(30)
        write(*given)  # type: ignore[arg-type]
        over.set()

    monkeypatch.setattr(replacing, "_write", slow)
    task = asyncio.create_task(desk.run("write_file", path="a.txt", content="new"))
    await until(hangs.is_set)
    task.cancel()
    with anyio.fail_after(5):
        await asyncio.wait([task])
    assert task.cancelled()
    goes_on.set()
    await until(over.is_set)
    await until(lambda: os.listdir(tmp_path) == ["a.txt"])
    assert await anyio.Path(tmp_path / "a.txt").read_text() == "old"


async def test_files_that_hang_leave_the_threads_of_the_server_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(tmp_path)
    goes_on = threading.Event()
    monkeypatch.setattr(replacing, "_write", lambda *given: goes_on.wait(30))
    async with anyio.create_task_group() as group:
        for number in range(60):
            group.start_soon(_write, desk, f"{number}.txt")
        await anyio.lowlevel.checkpoint()
        with anyio.fail_after(10):
            assert await anyio.to_thread.run_sync(lambda: "free") == "free"
        group.cancel_scope.cancel()
        goes_on.set()


@pytest.mark.guarantee("E1")
async def test_a_line_of_twenty_gigabytes_is_not_read_to_its_end(tmp_path: Path) -> None:
    with (tmp_path / "long.txt").open("wb") as file:
        file.write(b"x" * 10_000)
        file.truncate(20_000_000_000)
    said = await Desk(tmp_path).run("read_file", path="long.txt")
    assert "[line cut: it has more than 200,0" in said
    assert said.endswith("[stopped: no more than the first 200,000,000 bytes are read]")
    said = await Desk(tmp_path).failure("read_file", path="long.txt", offset=2)
    assert said.startswith("Line 2 of long.txt is not in its first 200,000,000 bytes")


async def test_an_edit_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a" * 9_000_000)
    desk = Desk(tmp_path)
    said = await desk.failure("edit_file", path="a.txt", old="a", new="b" * 10_000, all=True)
    assert said == "a.txt would become larger than 10,000,000 characters."


GLOBS = {
    "[z-a]": ["No file matches."],
    "[!]": ["No file matches."],
    "[": ["No file matches."],
    "[!a]": ["b", "sub/c"],
    "sub/[^x]": ["sub/c"],
    "{a,{b,c}}": ["a", "b", "sub/c"],
    "{a,{b}": ["a", "b"],
}


@pytest.mark.parametrize("glob", GLOBS)
async def test_an_odd_glob_finds_what_it_says_or_nothing(tmp_path: Path, glob: str) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("a", "b", "sub/c"):
        (tmp_path / name).touch()
    assert (await Desk(tmp_path).run("list_files", pattern=glob)).splitlines() == GLOBS[glob]


async def test_a_glob_that_nothing_understands_is_refused_with_a_sentence(tmp_path: Path) -> None:
    said = await Desk(tmp_path).failure("list_files", pattern="{" * 999 + "}")
    assert said.startswith("The glob {{{")
    assert said.endswith("is too complicated.")


async def test_odd_lines_of_a_gitignore_count_for_nothing_and_the_others_count(
    tmp_path: Path,
) -> None:
    odd = "[z-a]\n[!]\n{a,{b\n" + "{" * 2000 + "}\n[\n"
    (tmp_path / ".gitignore").write_text(odd + "*.log\n" + "# ä\n" * 20_000 + "*.tmp\n")
    for name in ("a.log", "b.tmp", "c.txt"):
        (tmp_path / name).touch()
    assert (await Desk(tmp_path).run("list_files")).splitlines() == [".gitignore", "c.txt"]


async def test_folders_whose_names_are_no_text_can_be_listed_and_searched(tmp_path: Path) -> None:
    bad = tmp_path / os.fsdecode(b"bad-\xff")
    bad.mkdir()
    (bad / "a.txt").write_text("needle")
    (tmp_path / "link").symlink_to(bad)
    desk = Desk(tmp_path)
    assert (await desk.run("list_files")).splitlines() == ["bad-?/a.txt", "link"]
    assert await desk.run("list_files", path="link") == "bad-?/a.txt"
    assert await desk.run("search_files", pattern="needle") == "bad-?/a.txt:1: needle"
    assert "needle" in await desk.run("read_file", path="link/a.txt")


async def _write(desk: Desk, path: str) -> None:
    await desk.run("write_file", path=path, content="x")
