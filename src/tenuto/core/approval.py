"""An approval: a tool call that waits for a person's word."""

from enum import StrEnum
from typing import Any

from msgspec.structs import replace

from tenuto.core.error import AlreadyAnswered
from tenuto.core.value import ApprovalId, CallId, RunId, SessionId, Value


class ApprovalState(StrEnum):
    PENDING = "pending"
    ALLOWED = "allowed"
    DENIED = "denied"
    CANCELLED = "cancelled"


class Decision(StrEnum):
    ALLOW_ONCE = "allow_once"
    ALLOW_SESSION = "allow_session"
    DENY = "deny"


class Approval(Value):
    id: ApprovalId
    session_id: SessionId
    run_id: RunId
    call_id: CallId
    tool: str
    input: Any
    state: ApprovalState = ApprovalState.PENDING
    decided_by: str | None = None
    """Who answered: `user`, or `run` when the run ended first. None while pending."""
    note: str | None = None

    def answer(self, decision: Decision, note: str | None) -> "Approval":
        denied = decision is Decision.DENY
        state = ApprovalState.DENIED if denied else ApprovalState.ALLOWED
        return replace(self._pending(), state=state, decided_by="user", note=note)

    def withdraw(self) -> "Approval":
        return replace(self._pending(), state=ApprovalState.CANCELLED, decided_by="run")

    def _pending(self) -> "Approval":
        if self.state is not ApprovalState.PENDING:
            raise AlreadyAnswered(f"approval {self.id} is already {self.state}")
        return self
