"""Reading files."""

from pathlib import Path

import pytest

from tests.tools.desk import Desk

pytestmark = pytest.mark.anyio


async def test_lines_come_with_their_numbers(desk: Desk) -> None:
    (desk.folder / "a.txt").write_text("one\r\ntwo\n\nfour")
    assert (
        await desk.run("read_file", path="a.txt")
        == "     1\tone\n     2\ttwo\n     3\t\n     4\tfour"
    )


async def test_a_stretch_says_how_to_read_on(desk: Desk) -> None:
    (desk.folder / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 10)))
    first = await desk.run("read_file", path="a.txt", offset=3, limit=2)
    assert first.splitlines() == [
        "     3\tline 3",
        "     4\tline 4",
        "[lines 3 to 4 shown, the limit is reached; the file goes on: read on with offset 5]",
    ]
    assert (await desk.run("read_file", path="a.txt", offset=8)).splitlines() == [
        "     8\tline 8",
        "     9\tline 9",
    ]


async def test_capped_output_says_so_and_reading_on_gives_every_line_once(tmp_path: Path) -> None:
    desk = Desk(tmp_path, output_characters=300)
    (desk.folder / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 101)))
    seen: list[str] = []
    while len(seen) < 100:
        said = (await desk.run("read_file", path="a.txt", offset=len(seen) + 1)).splitlines()
        last = said.pop() if said[-1].startswith("[") else ""
        seen += [line.split("\t")[1] for line in said]
        assert (
            len(seen) == 100
            or f"output is capped; the file goes on: read on with offset {len(seen) + 1}]" in last
        )
    assert seen == [f"line {n}" for n in range(1, 101)]


async def test_an_offset_behind_the_end_says_how_long_the_file_is(desk: Desk) -> None:
    (desk.folder / "a.txt").write_text("one\ntwo\n")
    assert await desk.failure("read_file", path="a.txt", offset=9) == "a.txt has only 2 lines."


async def test_an_empty_file_is_said_to_be_empty(desk: Desk) -> None:
    (desk.folder / "a.txt").touch()
    assert await desk.run("read_file", path="a.txt") == "(the file is empty)"


async def test_a_binary_file_is_refused_with_its_size(desk: Desk) -> None:
    (desk.folder / "a.bin").write_bytes(b"\x7fELF\0\0\0")
    assert await desk.failure("read_file", path="a.bin") == "a.bin is a binary file of 7 bytes."


async def test_bytes_that_are_no_text_show_as_broken_characters(desk: Desk) -> None:
    (desk.folder / "a.txt").write_bytes(b"caf\xe9 \xe2\x82\xac\n")
    assert await desk.run("read_file", path="a.txt") == "     1\tcaf\ufffd €"


async def test_the_beginning_of_a_huge_file_comes_without_reading_it_all(desk: Desk) -> None:
    with (desk.folder / "huge.txt").open("wb") as file:
        file.write(b"first\n" * 10_000)
        # Reading a sparse terabyte would never end.
        file.truncate(1 << 40)
    said = await desk.run("read_file", path="huge.txt", limit=2)
    assert said.startswith("     1\tfirst\n     2\tfirst\n[lines 1 to 2 shown")


async def test_a_line_without_end_is_cut(desk: Desk) -> None:
    (desk.folder / "a.txt").write_text("x" * 500_000 + "\nnext\n")
    said = await desk.run("read_file", path="a.txt")
    assert said.splitlines()[0] == "     1\t" + "x" * 2000 + "… [line cut: it has 500,001 bytes]"
    assert said.splitlines()[1] == "     2\tnext"
