"""`edit_file`: one passage for another, exactly where it is meant."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from msgspec import Meta

from tenuto.agent.tools.arguments import PATHS, Arguments
from tenuto.agent.tools.built_in import BuiltIn
from tenuto.agent.tools.files.folder import Spot
from tenuto.agent.tools.files.passage import Replacement, edited
from tenuto.agent.tools.files.replacing import Before, FileDeed, read_before
from tenuto.agent.tools.write_file import encoded
from tenuto.core.diff import changed
from tenuto.core.rule import Subject
from tenuto.core.text import whole
from tenuto.core.value import Value
from tenuto.ports.tool import Place, ToolFailed, ToolResult

FILE_BYTES = 10_000_000


class EditFileArguments(Arguments):
    synonyms: ClassVar[Mapping[str, str]] = {
        **PATHS,
        "old_string": "old",
        "old_str": "old",
        "old_text": "old",
        "new_string": "new",
        "new_str": "new",
        "new_text": "new",
        "replace_all": "all",
    }

    path: Annotated[str, Meta(description="The file, relative to the workspace's folder.")]
    old: Annotated[
        str,
        Meta(
            min_length=1,
            description="The passage to replace, as it is in the file, without line numbers. It "
            "must occur once; add lines around it if it does not.",
        ),
    ]
    new: Annotated[str, Meta(description="What to put there; empty to remove the passage.")]
    all: Annotated[bool, Meta(description="Replace it everywhere it occurs.")] = False


class EditFile(BuiltIn[EditFileArguments]):
    name = "edit_file"
    about = (
        "Replace a passage of a text file. A passage of whole lines is also found if only its "
        "indentation or blanks at the ends of its lines differ. Says how many lines changed."
    )
    takes = EditFileArguments
    changes = True

    async def about_call(self, given: EditFileArguments, place: Place) -> Subject:
        return await self.about_file(place, given.path)

    async def work(self, given: EditFileArguments, place: Place) -> ToolResult:
        draft = await self.threads.run(lambda errand: self._draft(given, place))
        self.tells_of(place, draft.spot)
        deed = FileDeed(
            self.threads,
            draft.spot,
            draft.content,
            before=draft.before,
            drafts=self.settings.drafts,
        )
        state = await deed.told(place.changes)
        if self.seen.knows(place.session_id, draft.spot.shown, draft.before.state):
            self.seen.note(place.session_id, draft.spot.shown, state)
        return draft.result

    def _draft(self, given: EditFileArguments, place: Place) -> "EditDraft":
        spot = self.locate(place, given.path)
        before = read_before(spot, limit=FILE_BYTES)
        if b"\0" in before.content:
            raise ToolFailed(f"{given.path} is a binary file.")
        # Bytes that are no UTF-8 go through unharmed.
        text = before.content.decode("utf-8", "surrogateescape")
        encoded(given.old + given.new)
        _must_stay_small(text, given)
        done = edited(text, Replacement(old=given.old, new=given.new, everywhere=given.all))
        places = "1 place" if done.count == 1 else f"{done.count} places"
        change = changed(given.path, whole(text), whole(done.text))
        said = [f"Edited {given.path} in {places} ({change.count}).", done.remark]
        return EditDraft(
            spot=spot,
            before=before,
            content=done.text.encode("utf-8", "surrogateescape"),
            result=ToolResult(text=" ".join(filter(None, said)), details=change.details),
        )


class EditDraft(Value):
    """An edit before it is made."""

    spot: Spot
    before: Before
    content: bytes
    result: ToolResult


def _must_stay_small(text: str, given: EditFileArguments) -> None:
    count = text.count(given.old)
    if len(text) + count * (len(given.new) - len(given.old)) > FILE_BYTES:
        raise ToolFailed(f"{given.path} would become larger than {FILE_BYTES:,} characters.")
