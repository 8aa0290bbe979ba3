"""Asking a person before a tool acts, as pure decisions."""

from collections.abc import Sequence

from msgspec.structs import replace

from tenuto.core import asking
from tenuto.core.approval import Approval, Decision, Word
from tenuto.core.asking import Stand
from tenuto.core.desk import Change, Desk, Moment
from tenuto.core.error import InvalidInput, NotFound
from tenuto.core.event import SessionUpdated
from tenuto.core.message import ToolPart
from tenuto.core.parking import roused
from tenuto.core.permission import Permission
from tenuto.core.rule import Rule, Subject, grant_of, granting, judge
from tenuto.core.session import Fence, SessionChanges
from tenuto.core.value import ApprovalId


def request(
    desk: Desk,
    fence: Fence,
    approval: Approval,
    stand: Stand,
    moment: Moment,
    rules: Sequence[Sequence[Rule]] = (),
) -> Change[ToolPart]:
    """Ask about a tool call of the active run; an earlier grant answers by itself. `rules` are
    those of the workspace and the server, the nearest first."""
    desk.held_by(fence)
    sources = (granting(granted(desk)), *rules)
    if judge(_subject(approval), sources, Permission.ASK) is Permission.ALLOW:
        return Change(events=(), control=desk.control, result=stand.part)
    return asking.ask(desk, fence, approval, stand, moment)


def answer(desk: Desk, approval_id: ApprovalId, word: Word, moment: Moment) -> Change[Approval]:
    """The first answer wins. A grant is for the tool of the stored request, and as a suggestion of
    ours says; it answers what else the run asks, as far as it goes."""
    pending = asking.pending(desk, Approval, approval_id)
    pattern = _chosen(pending, word)
    approval = pending.answer(word.decision, word.note)
    events = [asking.answered(approval, moment)]
    if word.decision in (Decision.ALLOW_SESSION, Decision.ALLOW_ALWAYS):
        grant = grant_of(approval.tool, pattern)
        if word.decision is Decision.ALLOW_SESSION and grant not in granted(desk):
            events.append(_granting(desk, (*granted(desk), grant), moment))
        events += [
            asking.answered(other.cover(), moment)
            for other in desk.open(Approval)
            if other.id != approval_id and _is_covered(other, granting((grant,)))
        ]
    return Change(events=tuple(events), control=roused(desk.control), result=approval)


def _chosen(approval: Approval, word: Word) -> str | None:
    """The pattern that the answer means; None: the tool, whatever it does. Raises InvalidInput."""
    if word.suggestion is None:
        if word.decision is Decision.ALLOW_ALWAYS:
            raise InvalidInput("suggestion: say which one to allow always")
        return None
    if word.decision not in (Decision.ALLOW_SESSION, Decision.ALLOW_ALWAYS):
        raise InvalidInput(f"suggestion: {word.decision} takes none")
    if not 0 <= word.suggestion < len(approval.suggestions):
        raise InvalidInput(f"suggestion: there is no {word.suggestion} among them")
    return approval.suggestions[word.suggestion].pattern


def _is_covered(approval: Approval, grant: Sequence[Rule]) -> bool:
    # What no pattern can judge may be forbidden by a rule that is not seen here.
    subject = _subject(approval)
    return not subject.unclear and judge(subject, (grant,), Permission.ASK) is Permission.ALLOW


def _subject(approval: Approval) -> Subject:
    return approval.subject or Subject(tool=approval.tool)


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
