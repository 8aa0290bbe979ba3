"""`write_file`: a whole file, new or in place of the old one."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from msgspec import Meta

from tenuto.agent.tools.arguments import PATHS, Arguments
from tenuto.agent.tools.built_in import BuiltIn
from tenuto.agent.tools.files.folder import Spot
from tenuto.agent.tools.files.replacing import Before, FileDeed, found_before
from tenuto.core.diff import Changed, changed
from tenuto.core.rule import Subject
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
        content = encoded(given.content)
        spot, old = await self.threads.run(lambda errand: self._look(given, place))
        self.tells_of(place, spot)
        deed = FileDeed(self.threads, spot, content, before=old, drafts=self.settings.drafts)
        self.seen.note(place.session_id, spot.shown, await deed.told(place.changes))
        if old is None:
            made = f"Created {given.path}: {len(content):,} bytes."
            return ToolResult(text=made, details={"kind": "created", "path": given.path})
        said = f"Replaced {given.path}: {len(content):,} bytes, was {old.state[2]:,}."
        change = await self.threads.run(lambda errand: _shown(given, old))
        if change is None:
            return ToolResult(text=said, details={"kind": "edited", "path": given.path})
        return ToolResult(text=f"{said} {change.told}", details=change.details)

    def _look(self, given: WriteFileArguments, place: Place) -> tuple[Spot, Before | None]:
        spot = self.locate(place, given.path)
        old = found_before(spot)
        if old is not None and self.seen.is_news(place.session_id, spot.shown, old.state):
            raise ToolFailed(UNREAD.format(path=given.path))
        return spot, old


def encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ToolFailed("The text has half of a character (a lone surrogate) in it.") from error


def _shown(given: WriteFileArguments, old: Before) -> Changed | None:
    """None: too large to compare, or not text."""
    content = old.content
    if not old.whole or len(content) > DIFF_BYTES or b"\0" in content:
        return None
    return changed(given.path, content.decode("utf-8", "replace"), given.content)
