"""`edit_file`: one passage for another, exactly where it is meant."""

from difflib import get_close_matches
from typing import Annotated

from msgspec import Meta

from tenuto.agent.tools.built_in import Arguments, BuiltIn
from tenuto.agent.tools.files.diff import diff
from tenuto.agent.tools.files.errand import Errand
from tenuto.agent.tools.files.replacing import put, read_before
from tenuto.agent.tools.output import capped
from tenuto.agent.tools.write_file import encoded
from tenuto.core.text import whole
from tenuto.core.value import Value
from tenuto.ports.tool import Place, ToolFailed

FILE_BYTES = 10_000_000
COMPARED_LINES = 5000
COMPARED_CHARACTERS = 200


class EditFileArguments(Arguments):
    path: Annotated[str, Meta(description="The file, relative to the workspace's folder.")]
    old: Annotated[
        str,
        Meta(
            min_length=1,
            description="The passage to replace, exactly as it is in the file, without line "
            "numbers. It must occur once; add lines around it if it does not.",
        ),
    ]
    new: Annotated[str, Meta(description="What to put there; empty to remove the passage.")]
    all: Annotated[bool, Meta(description="Replace it everywhere it occurs.")] = False


class EditFile(BuiltIn[EditFileArguments]):
    name = "edit_file"
    about = "Replace a passage of a text file. Returns what changed as a diff."
    takes = EditFileArguments
    changes = True

    async def work(self, given: EditFileArguments, place: Place) -> str:
        return await self.threads.run(lambda errand: self._edit(given, place, errand))

    def _edit(self, given: EditFileArguments, place: Place, errand: Errand) -> str:
        spot = self.locate(place, given.path)
        before = read_before(spot, limit=FILE_BYTES)
        if b"\0" in before.content:
            raise ToolFailed(f"{given.path} is a binary file.")
        # Bytes that are no UTF-8 go through unharmed.
        text = before.content.decode("utf-8", "surrogateescape")
        encoded(given.old + given.new)
        change = _fitted(text, given)
        count = _must_be_clear(text, change, given)
        changed = text.replace(change.old, change.new)
        put(spot, changed.encode("utf-8", "surrogateescape"), errand, only_if=before)
        places = "1 place" if count == 1 else f"{count} places"
        shown = diff(given.path, whole(text), whole(changed))
        said = f"Edited {given.path} in {places}.\n{shown}"
        return capped(said, self.settings.output_characters)


class Passage(Value):
    old: str
    new: str


def _fitted(text: str, given: EditFileArguments) -> Passage:
    """The change in the file's own line endings: readers are shown lines without them."""
    meant_as_is = "\n" in given.old and given.old in text
    if "\r\n" not in text or meant_as_is:
        return Passage(old=given.old, new=given.new)
    return Passage(old=_with_crlf(given.old), new=_with_crlf(given.new))


def _with_crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _must_be_clear(text: str, change: Passage, given: EditFileArguments) -> int:
    """How often the passage is there. Raises ToolFailed if it is not plain what is meant."""
    if change.old == change.new:
        raise ToolFailed("old and new are the same: there is nothing to change.")
    count = text.count(change.old)
    if count == 0:
        raise ToolFailed(f"old does not occur in {given.path}. {_hint(text, given.old)}")
    if len(text) + count * (len(change.new) - len(change.old)) > FILE_BYTES:
        raise ToolFailed(f"{given.path} would become larger than {FILE_BYTES:,} characters.")
    if count > 1 and not given.all:
        raise ToolFailed(
            f"old occurs {count} times in {given.path}. Add lines around it until it occurs once, "
            "or set all to true."
        )
    return count


def _hint(text: str, old: str) -> str:
    """Where the passage was probably meant to be."""
    wanted = next((line.strip() for line in old.splitlines() if line.strip()), "")
    lines = [line.strip()[:COMPARED_CHARACTERS] for line in text.splitlines()]
    near = [wanted] if wanted in lines else []
    near = near or get_close_matches(
        wanted[:COMPARED_CHARACTERS], lines[:COMPARED_LINES], n=1, cutoff=0.6
    )
    if not near:
        return "Read the file again: nothing in it is like it."
    number = lines.index(near[0]) + 1
    return f"The nearest is line {number}: {whole(text.splitlines()[number - 1])[:400]}"
