"""`read_file`: numbered lines of a text, the words of a PDF, or an image to be seen."""

import os
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Annotated, BinaryIO, ClassVar

from msgspec import Meta

from tenuto.agent.attachments.picture import Picture, picture
from tenuto.agent.surroundings import Instruction, instructions_in
from tenuto.agent.tools.arguments import PATHS, Arguments
from tenuto.agent.tools.built_in import BuiltIn
from tenuto.agent.tools.files.errand import Errand, Threads
from tenuto.agent.tools.files.folder import opened_file
from tenuto.agent.tools.files.replacing import state_of
from tenuto.agent.tools.files.seen import SeenFiles
from tenuto.agent.tools.output import OUTPUT
from tenuto.agent.tools.processes.pdf import Pdfs
from tenuto.agent.tools.settings import ToolSettings
from tenuto.core.rule import Subject
from tenuto.ports.tool import GivenFile, Place, ToolFailed, ToolResult

ATTACHED = "file:"
"""Before the id of a file that was attached to a prompt."""
LOOK_BYTES = 8192
PDF = b"%PDF-"
IMAGES = (b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a", b"\xff\xd8\xff", b"RIFF")
"""How those begin that models see."""
SHOWN_BYTES = 20_000_000
"""A larger image no provider takes, and a larger PDF nobody reads out."""
LINE_CHARACTERS = 2000
LINES = 2000
PIECE_BYTES = 65_536
READ_BYTES = 200_000_000
"""The most that one call looks through, a second or so; a line can be longer than any patience."""


class ReadFileArguments(Arguments):
    synonyms: ClassVar[Mapping[str, str]] = {
        **PATHS,
        "start": "offset",
        "start_line": "offset",
        "line": "offset",
        "lines": "limit",
        "max_lines": "limit",
    }

    path: Annotated[
        str,
        Meta(
            description="The file, relative to the workspace's folder; `file:ID` for an attached "
            "one; `output:ID` for all that a call or a job printed."
        ),
    ]
    offset: Annotated[int, Meta(ge=1, description="The first line to read, counted from 1.")] = 1
    limit: Annotated[int, Meta(ge=1, description="How many lines to read at most.")] = LINES


class ReadFile(BuiltIn[ReadFileArguments]):
    name = "read_file"
    about = (
        "Read a text file. Each line comes with its number and a tab, which are not part of the "
        "file. Long files come in stretches: the end says how to read on. Of a PDF you get its "
        "text; a PNG, JPEG, GIF or WebP image is shown to you if you can see."
    )
    takes = ReadFileArguments

    def __init__(self, settings: ToolSettings, threads: Threads, seen: SeenFiles) -> None:
        super().__init__(settings, threads, seen)
        self._pdfs = Pdfs()

    async def about_call(self, given: ReadFileArguments, place: Place) -> Subject:
        if given.path.startswith((ATTACHED, OUTPUT)):
            return Subject(tool=self.name)
        return await self.about_file(place, given.path)

    async def work(self, given: ReadFileArguments, place: Place) -> str | ToolResult:
        if given.path.startswith(OUTPUT):
            printed = BytesIO((await place.printed(given.path.removeprefix(OUTPUT))).encode())
            return await self.threads.run(
                lambda errand: self._stretch(Lines(printed, errand), given)
            )
        if given.path.startswith(ATTACHED):
            content = await place.attached(given.path.removeprefix(ATTACHED))
            read = await self.threads.run(
                lambda errand: self._numbered(BytesIO(content), given, errand)
            )
        else:
            read = await self.threads.run(lambda errand: self._read_lines(given, place, errand))
        if isinstance(read, str):
            return f"{read}{await self._told_there(given, place)}"
        if seen := picture(read):
            return _shown(given.path, read, seen)
        text = BytesIO((await self._pdfs.text(read)).encode())
        return await self.threads.run(lambda errand: self._stretch(Lines(text, errand), given))

    async def _told_there(self, given: ReadFileArguments, place: Place) -> str:
        """What the folders on the way ask of agents, once in a conversation."""
        if given.path.startswith(ATTACHED):
            return ""
        found = await self.threads.run(lambda errand: self._asked_there(given, place))
        return "".join(
            f"\n\n[{one.path} says about working in that folder:]\n{one.text}" for one in found
        )

    def _asked_there(self, given: ReadFileArguments, place: Place) -> list[Instruction]:
        spot, found = self.locate(place, given.path), []
        for depth in range(1, len(spot.parts)):
            base = "/".join(spot.parts[:depth]) + "/"
            for one in instructions_in(place.folder, base, spot.vault):
                itself = one.path == spot.shown
                if self.seen.is_untold(place.session_id, one.path) and not itself:
                    found.append(one)
        return found

    def _read_lines(self, given: ReadFileArguments, place: Place, errand: Errand) -> str | bytes:
        spot = self.locate(place, given.path)
        with opened_file(spot) as descriptor, open(descriptor, "rb", closefd=False) as file:
            state = state_of(os.fstat(descriptor))
            said = self._numbered(file, given, errand)
        self.seen.note(place.session_id, spot.shown, state)
        return said

    def _numbered(self, file: BinaryIO, given: ReadFileArguments, errand: Errand) -> str | bytes:
        """The lines asked for; all bytes of what is no text and can be shown nevertheless."""
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        head = file.read(LOOK_BYTES)
        if size <= SHOWN_BYTES and (head.startswith(PDF) or head.startswith(IMAGES)):
            content = head + file.read()
            if head.startswith(PDF) or picture(content):
                return content
        if b"\0" in head:
            raise ToolFailed(f"{given.path} is a binary file of {size:,} bytes.")
        file.seek(0)
        return self._stretch(Lines(file, errand), given)

    def _stretch(self, lines: "Lines", given: ReadFileArguments) -> str:
        """The lines asked for; nothing behind them is read."""
        shown: list[str] = []
        room = self.settings.output_characters
        number = 0
        for number, line in enumerate(lines, start=1):
            if number < given.offset:
                continue
            text = f"{number:6}\t{line}"
            room -= len(text) + 1
            if len(shown) == given.limit or (room < 0 and shown):
                return "\n".join([*shown, _read_on(given, number, room)])
            shown.append(text)
        if lines.cut and not shown:
            raise ToolFailed(
                f"Line {given.offset} of {given.path} is not in its first {READ_BYTES:,} bytes, and "
                "no more is read. search_files finds lines by their text."
            )
        if lines.cut:
            shown.append(f"[stopped: no more than the first {READ_BYTES:,} bytes are read]")
        if shown:
            return "\n".join(shown)
        if number:
            raise ToolFailed(f"{given.path} has only {number} lines.")
        return "(the file is empty)"


def _shown(path: str, content: bytes, seen: Picture) -> ToolResult:
    name = path.rsplit("/", 1)[-1]
    return ToolResult(
        text=f"{path}: an image of {seen.width} × {seen.height} pixels.",
        files=(GivenFile(name=name, media_type=seen.media_type, content=content),),
    )


class Lines:
    """Each line, cut if it is long: a line is never in memory whole unless it is short."""

    def __init__(self, file: BinaryIO, errand: Errand) -> None:
        self._file = file
        self._errand = errand
        self._read = 0
        self.cut = False
        """It stopped before the end, because it had read enough."""

    def __iter__(self) -> Iterator[str]:
        while not self.cut and (first := self._piece()):
            size, piece = len(first), first
            while len(piece) == PIECE_BYTES and not piece.endswith(b"\n") and not self.cut:
                piece = self._piece()
                size += len(piece)
            text = first.decode("utf-8", "replace").rstrip("\r\n")
            if len(text) > LINE_CHARACTERS:
                more = "more than " if self.cut else ""
                text = f"{text[:LINE_CHARACTERS]}… [line cut: it has {more}{size:,} bytes]"
            yield text

    def _piece(self) -> bytes:
        self._errand.step()
        piece = self._file.readline(PIECE_BYTES)
        self._read += len(piece)
        self.cut = self._read >= READ_BYTES
        return piece


def _read_on(given: ReadFileArguments, following: int, room: int) -> str:
    why = "output is capped" if room < 0 else "the limit is reached"
    return (
        f"[lines {given.offset} to {following - 1} shown, {why}; "
        f"the file goes on: read on with offset {following}]"
    )
