"""An approval: a tool call that waits for a person's word."""

from enum import StrEnum
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from tenuto.core.error import AlreadyAnswered
from tenuto.core.rule import Subject
from tenuto.core.suggesting import Suggestion
from tenuto.core.value import ApprovalId, CallId, PartId, RunId, SessionId, Value


class ApprovalState(StrEnum):
    PENDING = "pending"
    ALLOWED = "allowed"
    DENIED = "denied"
    CANCELLED = "cancelled"


class Decision(StrEnum):
    ALLOW_ONCE = "allow_once"
    ALLOW_SESSION = "allow_session"
    ALLOW_ALWAYS = "allow_always"
    """In this workspace, as a suggestion says."""
    DENY = "deny"


class Word(Value, forbid_unknown_fields=True):
    """What a person says to an approval."""

    decision: Decision
    suggestion: int | None = None
    """The place of a suggestion among those of the approval; None: the tool, whatever it does."""
    note: Annotated[str, Meta(max_length=10_000)] | None = None


class Approval(Value):
    id: ApprovalId
    session_id: SessionId
    root_session_id: SessionId | UnsetType = UNSET
    """The session that people look at: of a sub-agent, the one that started it. UNSET in those of
    older versions."""
    run_id: RunId
    call_id: CallId
    part_id: PartId | UnsetType = UNSET
    tool: str
    input: Any
    subject: Subject | UnsetType = UNSET
    """What the call is about, as rules see it."""
    suggestions: tuple[Suggestion, ...] = ()
    """What can be allowed from now on; an answer says which, by its place."""
    state: ApprovalState = ApprovalState.PENDING
    decided_by: str | None = None
    """Who answered: `user`, `rule` when an answer to another covers it, or `run` when the run ended
    first. None while pending."""
    note: str | None = None

    def answer(self, decision: Decision, note: str | None) -> "Approval":
        denied = decision is Decision.DENY
        state = ApprovalState.DENIED if denied else ApprovalState.ALLOWED
        return replace(self._pending(), state=state, decided_by="user", note=note)

    def cover(self) -> "Approval":
        """A grant that was just given allows this one too."""
        return replace(self._pending(), state=ApprovalState.ALLOWED, decided_by="rule")

    def withdraw(self) -> "Approval":
        return replace(self._pending(), state=ApprovalState.CANCELLED, decided_by="run")

    def _pending(self) -> "Approval":
        if self.state is not ApprovalState.PENDING:
            raise AlreadyAnswered(f"approval {self.id} is already {self.state}")
        return self
