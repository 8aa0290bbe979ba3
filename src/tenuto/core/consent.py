"""Asking a person before a tool acts, as pure decisions."""

from msgspec.structs import replace

from tenuto.core.approval import Approval, Decision
from tenuto.core.desk import Change, Desk, Moment
from tenuto.core.error import AlreadyAnswered, NotFound
from tenuto.core.event import (
    ApprovalRequested,
    ApprovalResolved,
    Event,
    PartUpdated,
    SessionUpdated,
)
from tenuto.core.message import ToolPart, ToolState
from tenuto.core.session import Fence, SessionChanges
from tenuto.core.value import ApprovalId, MessageId


def request(
    desk: Desk,
    fence: Fence,
    approval: Approval,
    part: ToolPart,
    message_id: MessageId,
    moment: Moment,
) -> Change[ToolPart]:
    """Ask about a tool call of the active run; an earlier grant answers by itself."""
    run = desk.held_by(fence)
    if approval.tool in granted(desk):
        return Change(events=(), control=desk.control, result=part)
    waiting = replace(part, state=ToolState.WAITING_APPROVAL)
    updated = PartUpdated(
        session_id=run.session_id,
        run_id=run.id,
        at=moment.now,
        by=moment.by,
        message_id=message_id,
        part=waiting,
    )
    asked = ApprovalRequested(
        session_id=run.session_id, run_id=run.id, at=moment.now, by=moment.by, approval=approval
    )
    return Change(
        events=(updated, asked),
        control=desk.control,
        result=waiting,
    )


def answer(
    desk: Desk, approval_id: ApprovalId, decision: Decision, note: str | None, moment: Moment
) -> Change[Approval]:
    """The first answer wins. A grant is for the tool of the stored request, nothing else."""
    pending = next((a for a in desk.pending if a.id == approval_id), None)
    if pending is None:
        raise AlreadyAnswered(f"approval {approval_id} is already answered")
    approval = pending.answer(decision, note)
    event = ApprovalResolved(
        session_id=desk.session.id,
        run_id=approval.run_id,
        at=moment.now,
        by=moment.by,
        approval=approval,
    )
    events: tuple[Event, ...] = (event,)
    if decision is Decision.ALLOW_SESSION and approval.tool not in granted(desk):
        events += (_granting(desk, (*granted(desk), approval.tool), moment),)
    return Change(events=events, control=desk.control, result=approval)


def granted(desk: Desk) -> tuple[str, ...]:
    """The tools that are not asked about in this session."""
    return tuple(dict.fromkeys((*desk.control.grants, *desk.session.grants)))


def revoke(desk: Desk, tool: str, moment: Moment) -> Change[None]:
    """Ask about this tool again."""
    if tool not in granted(desk):
        raise NotFound(f"{tool} is not allowed for the whole of session {desk.session.id}")
    left = tuple(one for one in granted(desk) if one != tool)
    return Change(
        events=(_granting(desk, left, moment),),
        control=replace(desk.control, grants=()),
        result=None,
    )


def _granting(desk: Desk, tools: tuple[str, ...], moment: Moment) -> SessionUpdated:
    changes = SessionChanges(grants=tools)
    return SessionUpdated(session_id=desk.session.id, at=moment.now, by=moment.by, changes=changes)
