"""`read_file`: numbered lines of a text file, as much as is asked for."""

import os
from collections.abc import Iterator
from io import BufferedReader
from typing import Annotated

from anyio import from_thread, to_thread
from msgspec import Meta

from tenuto.agent.tools.built_in import Arguments, BuiltIn
from tenuto.agent.tools.folder import Spot, locate, opened_file
from tenuto.ports.tool import Place, ToolFailed

LOOK_BYTES = 8192
LINE_CHARACTERS = 2000
LINES = 2000
PIECE_BYTES = 65_536


class ReadFileArguments(Arguments):
    path: Annotated[str, Meta(description="The file, relative to the workspace's folder.")]
    offset: Annotated[int, Meta(ge=1, description="The first line to read, counted from 1.")] = 1
    limit: Annotated[int, Meta(ge=1, description="How many lines to read at most.")] = LINES


class ReadFile(BuiltIn[ReadFileArguments]):
    name = "read_file"
    about = (
        "Read a text file. Each line comes with its number and a tab, which are not part of the "
        "file. Long files come in stretches: the end says how to read on."
    )
    takes = ReadFileArguments

    async def work(self, given: ReadFileArguments, place: Place) -> str:
        return await to_thread.run_sync(self._read_lines, given, place)

    def _read_lines(self, given: ReadFileArguments, place: Place) -> str:
        spot = locate(place.folder, given.path)
        with opened_file(spot) as descriptor, open(descriptor, "rb", closefd=False) as file:
            size = os.fstat(descriptor).st_size
            if b"\0" in file.peek(LOOK_BYTES)[:LOOK_BYTES]:
                raise ToolFailed(f"{given.path} is a binary file of {size:,} bytes.")
            return self._stretch(file, given, spot)

    def _stretch(self, file: BufferedReader, given: ReadFileArguments, spot: Spot) -> str:
        """The lines asked for; nothing behind them is read."""
        shown: list[str] = []
        room = self.settings.output_characters
        number = 0
        for number, line in enumerate(_lines(file), start=1):
            if number < given.offset:
                continue
            text = f"{number:6}\t{line}"
            room -= len(text) + 1
            if len(shown) == given.limit or (room < 0 and shown):
                return "\n".join([*shown, _read_on(given, number, room)])
            shown.append(text)
        if shown:
            return "\n".join(shown)
        if number:
            raise ToolFailed(f"{spot.given} has only {number} lines.")
        return "(the file is empty)"


def _lines(file: BufferedReader) -> Iterator[str]:
    """Each line, cut if it is long: a line is never in memory whole unless it is short."""
    while first := file.readline(PIECE_BYTES):
        from_thread.check_cancelled()
        size, piece = len(first), first
        while len(piece) == PIECE_BYTES and not piece.endswith(b"\n"):
            from_thread.check_cancelled()
            piece = file.readline(PIECE_BYTES)
            size += len(piece)
        text = first.decode("utf-8", "replace").rstrip("\r\n")
        if len(text) > LINE_CHARACTERS:
            text = f"{text[:LINE_CHARACTERS]}… [line cut: it has {size:,} bytes]"
        yield text


def _read_on(given: ReadFileArguments, following: int, room: int) -> str:
    why = "output is capped" if room < 0 else "the limit is reached"
    return (
        f"[lines {given.offset} to {following - 1} shown, {why}; "
        f"the file goes on: read on with offset {following}]"
    )
