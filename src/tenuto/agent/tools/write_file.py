"""`write_file`: a whole file, new or in place of the old one."""

import os
from collections.abc import Mapping
from typing import Annotated, ClassVar

from msgspec import Meta

from tenuto.agent.tools.arguments import PATHS, Arguments
from tenuto.agent.tools.built_in import BuiltIn
from tenuto.agent.tools.files.diff import changed
from tenuto.agent.tools.files.errand import Errand
from tenuto.agent.tools.files.folder import Spot, opened_file
from tenuto.agent.tools.files.replacing import State, put, state_of
from tenuto.core.rule import Subject
from tenuto.core.value import Value
from tenuto.ports.tool import Place, ToolFailed, ToolResult

DIFF_BYTES = 1_000_000
UNREAD = (
    "{path} is there already, and this conversation has not read it as it is now. Read it first; or "
    "write it again, if it shall be replaced as it is."
)


class WriteFileArguments(Arguments):
    synonyms: ClassVar[Mapping[str, str]] = {
        **PATHS,
        "text": "content",
        "contents": "content",
        "file_text": "content",
    }

    path: Annotated[str, Meta(description="The file; folders that are missing are made.")]
    content: Annotated[str, Meta(description="The whole content of the file.")]


class WriteFile(BuiltIn[WriteFileArguments]):
    name = "write_file"
    about = "Write a whole file. One that exists is replaced. To change a part, use edit_file."
    takes = WriteFileArguments
    changes = True

    async def about_call(self, given: WriteFileArguments, place: Place) -> Subject:
        return await self.about_file(place, given.path)

    async def work(self, given: WriteFileArguments, place: Place) -> ToolResult:
        return await self.threads.run(lambda errand: self._write(given, place, errand))

    def _write(self, given: WriteFileArguments, place: Place, errand: Errand) -> ToolResult:
        spot = self.locate(place, given.path)
        content = encoded(given.content)
        old = _old_content(spot)
        if old is not None and self.seen.is_news(place.session_id, spot.shown, old.state):
            raise ToolFailed(UNREAD.format(path=given.path))
        self.seen.note(place.session_id, spot.shown, put(spot, content, errand))
        if old is None:
            made = f"Created {given.path}: {len(content):,} bytes."
            return ToolResult(text=made, details={"kind": "created", "path": given.path})
        said = f"Replaced {given.path}: {len(content):,} bytes, was {old.size:,}."
        if old.text is None:
            return ToolResult(text=said, details={"kind": "edited", "path": given.path})
        change = changed(given.path, old.text, given.content)
        return ToolResult(text=f"{said} {change.told}", details=change.details)


class Old(Value):
    size: int
    state: State
    text: str | None
    """None: too large to compare, or not text."""


def encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ToolFailed("The text has half of a character (a lone surrogate) in it.") from error


def _old_content(spot: Spot) -> Old | None:
    try:
        with opened_file(spot) as descriptor, open(descriptor, "rb", closefd=False) as file:
            found = os.fstat(descriptor)
            content = file.read(DIFF_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if len(content) > DIFF_BYTES or b"\0" in content:
        return Old(size=found.st_size, state=state_of(found), text=None)
    text = content.decode("utf-8", "replace")
    return Old(size=found.st_size, state=state_of(found), text=text)
