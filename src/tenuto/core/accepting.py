"""Accepting: a prompt gets its place in the order of its session."""

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from tenuto.core.cancelling import cancel_unheld
from tenuto.core.desk import Change, Desk, Moment
from tenuto.core.error import QueueFull, SessionBusy
from tenuto.core.event import Event, RunAccepted
from tenuto.core.message import Message
from tenuto.core.options import NO_WISH, Wish
from tenuto.core.parking import roused
from tenuto.core.questioning import steered
from tenuto.core.run import (
    Input,
    Mode,
    OnDisconnect,
    OnInterrupt,
    Reason,
    Run,
    RunStatus,
    ToolScope,
    WhenBusy,
)
from tenuto.core.session import Control
from tenuto.core.title import first_title
from tenuto.core.value import NodeId, PrincipalId, RunId, Value

QUEUE_LIMIT = 100


class Prompt(Value):
    """What someone asks for, valid but not yet accepted."""

    run_id: RunId
    by: PrincipalId
    input: Input
    model: str
    mode: Mode = Mode.AGENT
    when_busy: WhenBusy = WhenBusy.QUEUE
    on_disconnect: OnDisconnect = OnDisconnect.CONTINUE
    continues: RunId | None = None
    on_interrupt: OnInterrupt = OnInterrupt.STOP
    continued: int = 0
    wish: Wish = NO_WISH
    parent_run: RunId | UnsetType = UNSET
    tools: ToolScope | UnsetType = UNSET
    expanded: str | None = None
    """What its command means; None: it is none."""


def accept(desk: Desk, prompt: Prompt, moment: Moment) -> Change[Run]:
    """Take a prompt into the session's order."""
    busy = not desk.idle
    if busy and prompt.when_busy is WhenBusy.REJECT:
        raise SessionBusy(f"session {desk.session.id} is working on another prompt")
    events: tuple[Event, ...] = ()
    control = desk.control
    finished: tuple[Message, ...] = ()
    if busy and prompt.when_busy is WhenBusy.INTERRUPT:
        replaced = cancel_unheld(desk, Reason.REPLACED, moment)
        events, control, finished = replaced.events, replaced.control, replaced.finished
    elif len(desk.queue) >= QUEUE_LIMIT:
        raise QueueFull(f"session {desk.session.id} has {QUEUE_LIMIT} prompts waiting")
    run = Run(
        id=prompt.run_id,
        session_id=desk.session.id,
        by=prompt.by,
        status=RunStatus.QUEUED,
        model=None if control.veil else prompt.model,
        mode=prompt.mode,
        when_busy=prompt.when_busy,
        on_disconnect=prompt.on_disconnect,
        accept_number=control.accept_count + 1,
        accepted_at=moment.now,
        input=prompt.input,
        continues=prompt.continues,
        on_interrupt=prompt.on_interrupt,
        continued=prompt.continued,
        effort=prompt.wish.effort,
        options=prompt.wish.options,
        attended=prompt.wish.attended,
        parent_run=prompt.parent_run,
        tools=prompt.tools,
    )
    control = replace(
        control,
        accept_count=run.accept_number,
        queue=(*control.queue, run.id),
        attached=_attached(desk, control, run, moment),
        expanded=with_meaning(control, run.id, prompt.expanded),
    )
    events += (
        RunAccepted(session_id=run.session_id, run_id=run.id, at=moment.now, by=moment.by, run=run),
    )
    answered = steered(desk, (run,), moment)
    return Change(
        events=events + answered + first_title(desk, run, moment),
        control=roused(control) if answered else control,
        result=run,
        finished=finished,
    )


def with_meaning(control: Control, run_id: RunId, meaning: str | None) -> dict[RunId, str]:
    """What the commands mean of those that wait, and of this run."""
    there = {r: text for r, text in control.expanded.items() if r in control.queue and r != run_id}
    return there if meaning is None else {**there, run_id: meaning}


def _attached(desk: Desk, control: Control, run: Run, moment: Moment) -> dict[RunId, NodeId]:
    """Of what runs and waits, and of this run if it is so: who holds the connection."""
    there = {*control.queue, desk.session.active_run}
    waiting = {r: node for r, node in control.attached.items() if r in there}
    is_attached = run.on_disconnect is OnDisconnect.CANCEL
    return {**waiting, run.id: moment.node} if is_attached else waiting
