"""`write_file`: a whole file, new or in place of the old one."""

import os
from typing import Annotated

from msgspec import Meta

from tenuto.agent.tools.built_in import Arguments, BuiltIn
from tenuto.agent.tools.files.diff import diff
from tenuto.agent.tools.files.errand import Errand
from tenuto.agent.tools.files.folder import Spot, opened_file
from tenuto.agent.tools.files.replacing import put
from tenuto.agent.tools.output import capped
from tenuto.core.value import Value
from tenuto.ports.tool import Place, ToolFailed

DIFF_BYTES = 1_000_000
DIFF_CHARACTERS = 4000


class WriteFileArguments(Arguments):
    path: Annotated[str, Meta(description="The file; folders that are missing are made.")]
    content: Annotated[str, Meta(description="The whole content of the file.")]


class WriteFile(BuiltIn[WriteFileArguments]):
    name = "write_file"
    about = "Write a whole file. One that exists is replaced. To change a part, use edit_file."
    takes = WriteFileArguments
    changes = True

    async def work(self, given: WriteFileArguments, place: Place) -> str:
        return await self.threads.run(lambda errand: self._write(given, place, errand))

    def _write(self, given: WriteFileArguments, place: Place, errand: Errand) -> str:
        spot = self.locate(place, given.path)
        content = encoded(given.content)
        old = _old_content(spot)
        put(spot, content, errand)
        if old is None:
            return f"Created {given.path}: {len(content):,} bytes."
        said = f"Replaced {given.path}: {len(content):,} bytes, was {old.size:,}."
        if old.text is None:
            return said
        change = diff(given.path, old.text, given.content) or "It is the same as before."
        return f"{said}\n{capped(change, DIFF_CHARACTERS)}"


class Old(Value):
    size: int
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
            size = os.fstat(descriptor).st_size
            content = file.read(DIFF_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if len(content) > DIFF_BYTES or b"\0" in content:
        return Old(size=size, text=None)
    return Old(size=size, text=content.decode("utf-8", "replace"))
