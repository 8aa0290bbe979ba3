"""File changes: what a run did to the files of its workspace, and what it takes to put them back."""

import hashlib
from enum import StrEnum

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from tenuto.core.principal import OWNER
from tenuto.core.value import (
    CallId,
    ChangeId,
    FileId,
    Instant,
    PrincipalId,
    RunId,
    SessionId,
    Value,
)


class ChangeKind(StrEnum):
    CREATED = "created"
    EDITED = "edited"
    DELETED = "deleted"


class ChangeState(StrEnum):
    REVERTIBLE = "revertible"
    REVERTED = "reverted"
    CONFLICT = "conflict"
    """The last attempt found that somebody had changed it since."""
    NOT_REVERTIBLE = "not_revertible"


class FileState(Value):
    """A file as it was at one moment."""

    digest: str
    """Of its content; of a link, of where it leads."""
    size: int
    mode: int
    """Its permissions."""
    link: bool = False
    file_id: FileId | None = None
    """Where its bytes are; None: nobody has kept them."""

    def is_like(self, other: "FileState | None") -> bool:
        """Whether it is the same file, byte for byte and in what may be done with it."""
        return other is not None and self.mark == other.mark

    @property
    def mark(self) -> tuple[str, int, bool]:
        # A link has no permissions of its own.
        return self.digest, 0 if self.link else self.mode, self.link


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class FileChange(Value):
    """All that one run did to one path, from its first change to its last."""

    id: ChangeId
    session_id: SessionId
    run_id: RunId
    call_id: CallId
    """Of the last call that changed it."""
    path: str
    kind: ChangeKind = ChangeKind.EDITED
    added: int = 0
    removed: int = 0
    diff: str = ""
    """From before the run to after it; capped, and empty for what is no text."""
    state: ChangeState = ChangeState.REVERTIBLE
    why: str = ""
    """Why it cannot be reverted, or was not."""
    tool: str = ""
    """What changed it last."""
    by: PrincipalId = OWNER.id
    """Whose run it was."""
    before: FileState | None = None
    """None: there was no such file."""
    after: FileState | None = None
    """As the run left it; None: there is no such file any more."""
    next: FileState | UnsetType | None = UNSET
    """What is being put there: set only while that is under way, or if a crash came between."""
    folders: tuple[str, ...] = ()
    """Those that were made for it, the outermost first."""

    @property
    def is_nothing(self) -> bool:
        """Whether the run itself left the file as it had found it."""
        return self.next is UNSET and same(self.before, self.after)

    def is_left(self, found: FileState | None) -> bool:
        """Whether the file, as it is found, is as the run left it."""
        if self.next is not UNSET and same(self.next, found):
            return True
        return same(self.after, found)


class FileStep(Value):
    """One change of one file, as a tool made it or a look at the folder found it."""

    call_id: CallId
    tool: str
    path: str
    before: FileState | None
    after: FileState | None
    added: int = 0
    removed: int = 0
    diff: str = ""
    """From before the run to after this step."""
    why: str = ""
    """Why it cannot be reverted; empty if it can."""
    folders: tuple[str, ...] = ()


KEPT = "kept_"
"""How the id of bytes begins that are kept to put a file back."""


def kept_as(session_id: SessionId, content: bytes, now: Instant) -> FileId:
    """By content, so that it is kept once; by session, with which it goes; and by day, so that
    what is too old can be found."""
    digest = hashlib.sha256(session_id.encode() + b"\0" + content).hexdigest()
    return FileId(f"{KEPT}{now[:10]}_{digest[:40]}")


ELSE = "Something else changed it between two changes of this run."


def change_id(run_id: RunId, path: str) -> ChangeId:
    """One for each path of a run; all of one run are beside each other."""
    return ChangeId(f"{run_id}:{digest_of(path.encode('utf-8', 'surrogatepass'))[:32]}")


def folded(known: FileChange | None, step: FileStep, new: FileChange) -> FileChange:
    """What the run did to the path so far, and this step after it. `new` says whose it is."""
    if known is not None and same(known.after, step.after) and not known.is_left(step.before):
        # Two who watched the folder at the same time tell of the same change.
        return known
    first = new if known is None else known
    before, why = (step.before, step.why) if known is None else (known.before, known.why)
    if known is not None and not known.is_left(step.before):
        why = why or ELSE
    why = why or step.why
    return replace(
        first,
        call_id=step.call_id,
        tool=step.tool,
        kind=kind_of_change(before, step.after),
        before=before,
        after=step.after,
        next=UNSET,
        added=step.added,
        removed=step.removed,
        diff=step.diff,
        why=why,
        state=ChangeState.NOT_REVERTIBLE if why else ChangeState.REVERTIBLE,
        folders=first.folders or step.folders,
    )


def kind_of_change(before: FileState | None, after: FileState | None) -> ChangeKind:
    if before is None:
        return ChangeKind.CREATED
    return ChangeKind.DELETED if after is None else ChangeKind.EDITED


def same(one: FileState | None, other: FileState | None) -> bool:
    return one.is_like(other) if one is not None else other is None


def files_kept(change: FileChange) -> tuple[FileId, ...]:
    """Where the bytes are that it speaks of."""
    kept = (change.before, change.after, None if change.next is UNSET else change.next)
    return tuple(one.file_id for one in kept if one is not None and one.file_id is not None)
