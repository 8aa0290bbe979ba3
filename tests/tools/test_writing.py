"""Writing and editing files."""

import os
import threading
from pathlib import Path

import pytest

from tenuto.core.value import SessionId
from tests.tools.desk import Desk

pytestmark = pytest.mark.anyio


async def test_a_new_file_is_created_with_its_folders(desk: Desk) -> None:
    said = await desk.run("write_file", path="a/b/c.txt", content="héllo\n")
    assert said == "Created a/b/c.txt: 7 bytes."
    assert (desk.folder / "a/b/c.txt").read_bytes() == "héllo\n".encode()
    assert os.listdir(desk.folder / "a/b") == ["c.txt"]


async def test_a_replaced_file_keeps_its_mode_and_shows_what_changed(desk: Desk) -> None:
    file = desk.folder / "run.sh"
    file.write_text("one\ntwo\n")
    file.chmod(0o750)
    await desk.run("read_file", path="run.sh")
    result = await desk.result("write_file", path="run.sh", content="one\n2\n")
    assert result.text == "Replaced run.sh: 6 bytes, was 8. +1 −1 lines."
    assert result.details["diff"].startswith("--- run.sh\n+++ run.sh\n@@ -1,3 +1,3 @@")
    assert "\n-two\n+2\n" in result.details["diff"]
    assert file.stat().st_mode & 0o7777 == 0o750


async def test_the_diff_of_a_whole_new_content_is_capped(desk: Desk) -> None:
    (desk.folder / "a.txt").write_text("".join(f"old {n}\n" for n in range(5000)))
    content = "".join(f"new {n}\n" for n in range(5000))
    await desk.run("read_file", path="a.txt")
    result = await desk.result("write_file", path="a.txt", content=content)
    assert result.text == "Replaced a.txt: 43,890 bytes, was 43,890. +5,000 −5,000 lines."
    assert len(result.details["diff"]) < 31_000
    assert "left out here" in result.details["diff"]


async def test_a_reader_never_sees_half_a_file(desk: Desk) -> None:
    file = desk.folder / "a.txt"
    contents = ["a" * 2_000_000, "b" * 2_000_000]
    file.write_text(contents[0])
    await desk.run("read_file", path="a.txt")
    seen: set[str] = set()
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            seen.add(file.read_text())

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for turn in range(20):
            await desk.run("write_file", path="a.txt", content=contents[turn % 2])
    finally:
        over.set()
        reader.join()
    assert seen <= set(contents)
    assert os.listdir(desk.folder) == ["a.txt"]


async def test_half_a_character_is_refused_and_nothing_is_written(desk: Desk) -> None:
    said = await desk.failure("write_file", path="a.txt", content="x\ud83d")
    assert "half of a character" in said
    assert os.listdir(desk.folder) == []


async def test_an_edit_replaces_the_one_place_and_shows_it(desk: Desk) -> None:
    lines = [f"line {n}" for n in range(1, 51)]
    (desk.folder / "a.txt").write_text("\n".join(lines) + "\n")
    result = await desk.result("edit_file", path="a.txt", old="line 30\n", new="line thirty\n")
    # The model knows what it wrote; a person is shown it.
    assert result.text == "Edited a.txt in 1 place (+1 −1 lines)."
    assert (result.details["added"], result.details["removed"]) == (1, 1)
    assert result.details["diff"].splitlines() == [
        "--- a.txt",
        "+++ a.txt",
        "@@ -27,7 +27,7 @@",
        " line 27",
        " line 28",
        " line 29",
        "-line 30",
        "+line thirty",
        " line 31",
        " line 32",
        " line 33",
    ]
    lines[29] = "line thirty"
    assert (desk.folder / "a.txt").read_text() == "\n".join(lines) + "\n"


async def test_a_passage_that_occurs_twice_needs_more_lines_or_all(desk: Desk) -> None:
    (desk.folder / "a.txt").write_text("x = 1\ny = 1\n")
    said = await desk.failure("edit_file", path="a.txt", old="1", new="2")
    assert said.startswith("old occurs 2 times, at lines 1, 2.")
    assert (desk.folder / "a.txt").read_text() == "x = 1\ny = 1\n"
    said = await desk.run("edit_file", path="a.txt", old="1", new="2", all=True)
    assert said.startswith("Edited a.txt in 2 places ")
    assert (desk.folder / "a.txt").read_text() == "x = 2\ny = 2\n"


async def test_a_passage_that_is_not_there_gets_a_hint(desk: Desk) -> None:
    (desk.folder / "a.py").write_text("import os\n\ndef main() -> None:\n    print('hello')\n")
    said = await desk.failure("edit_file", path="a.py", old="  print('hello')\n  x", new="y")
    assert said == (
        "old does not occur in the file. The nearest is:\n"
        "     4\t    print('hello')\n     5\t\nLine 5 is '', and old has '  x'."
    )
    said = await desk.failure("edit_file", path="a.py", old="def mian() -> None:", new="y")
    assert "     3\tdef main() -> None:\n" in said
    said = await desk.failure("edit_file", path="a.py", old="§§§§§§", new="y")
    assert said.endswith("Read the file again: nothing in it is like it.")


async def test_an_edit_keeps_the_line_endings_of_the_file(desk: Desk) -> None:
    file = desk.folder / "a.txt"
    file.write_bytes(b"one\r\ntwo\r\nthree\r\n")
    await desk.run("edit_file", path="a.txt", old="one\ntwo", new="1\n2\n2b")
    assert file.read_bytes() == b"1\r\n2\r\n2b\r\nthree\r\n"


async def test_an_edit_keeps_bytes_that_are_no_text(desk: Desk) -> None:
    file = desk.folder / "a.txt"
    file.write_bytes(b"caf\xe9\nold\n")
    said = await desk.run("edit_file", path="a.txt", old="old", new="new")
    assert file.read_bytes() == b"caf\xe9\nnew\n"
    said.encode()


async def test_an_edit_of_a_file_that_changed_meanwhile_is_refused(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = desk.folder / "a.txt"
    file.write_text("old\n")
    fsync = os.fsync

    def meanwhile(descriptor: int) -> None:
        fsync(descriptor)
        file.write_text("someone else's old\n")

    monkeypatch.setattr(os, "fsync", meanwhile)
    said = await desk.failure("edit_file", path="a.txt", old="old", new="new")
    assert said == "a.txt was changed meanwhile. Read it again."
    assert file.read_text() == "someone else's old\n"
    assert os.listdir(desk.folder) == ["a.txt"]


async def test_edits_that_make_no_sense_are_refused(desk: Desk, tmp_path: Path) -> None:
    (desk.folder / "a.txt").write_text("x")
    (desk.folder / "a.bin").write_bytes(b"x\0")
    assert "the same" in await desk.failure("edit_file", path="a.txt", old="x", new="x")
    assert "binary" in await desk.failure("edit_file", path="a.bin", old="x", new="y")
    assert "length >= 1" in await desk.failure("edit_file", path="a.txt", old="", new="y")
    said = await desk.failure("edit_file", path="gone.txt", old="x", new="y")
    assert said == "gone.txt: No such file or directory"


async def test_a_file_that_was_never_read_is_not_replaced_at_the_first_try(desk: Desk) -> None:
    file = desk.folder / "a.txt"
    file.write_text("precious")
    said = await desk.failure("write_file", path="a.txt", content="new")
    assert said.startswith("a.txt is there already")
    assert file.read_text() == "precious"
    # Who insists means it.
    await desk.run("write_file", path="a.txt", content="new")
    assert file.read_text() == "new"


async def test_a_file_that_was_read_or_written_can_be_replaced(desk: Desk) -> None:
    (desk.folder / "a.txt").write_text("old")
    await desk.run("read_file", path="./a.txt")
    await desk.run("write_file", path="a.txt", content="new")
    await desk.run("edit_file", path="a.txt", old="new", new="newer")
    await desk.run("write_file", path="a.txt", content="newest")
    assert (desk.folder / "a.txt").read_text() == "newest"


async def test_a_file_that_others_changed_since_it_was_read_is_not_replaced(desk: Desk) -> None:
    file = desk.folder / "a.txt"
    file.write_text("old")
    await desk.run("read_file", path="a.txt")
    file.write_text("of somebody else")
    await desk.failure("write_file", path="a.txt", content="new")
    assert file.read_text() == "of somebody else"


async def test_what_one_session_read_another_has_not(desk: Desk) -> None:
    (desk.folder / "a.txt").write_text("old")
    await desk.run("read_file", path="a.txt")
    desk.session_id = SessionId("ses_other")
    await desk.failure("write_file", path="a.txt", content="new")
