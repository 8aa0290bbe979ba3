"""Continuing: a run that the server's own end interrupted is gone on with by itself, if it says so."""

from msgspec.structs import replace

from tenuto.core.accepting import Prompt, accept
from tenuto.core.desk import Change, Desk, Moment
from tenuto.core.event import SessionUpdated
from tenuto.core.run import Mode, OnDisconnect, OnInterrupt, Run, RunStatus
from tenuto.core.session import Control, SessionChanges
from tenuto.core.value import RunId

MOST_IN_A_ROW = 3
"""A run that brings the server down each time must come to an end."""


def continued(desk: Desk, settled: Change[Run], moment: Moment) -> Change[Run]:
    """The same ending, and with it the run that goes on, before all that waits."""
    run = settled.result
    if not _goes_on(run):
        return settled
    prompt = Prompt(
        # Derived, not drawn: settling the same run twice can never make a second one.
        run_id=RunId(f"{run.id}_on"),
        by=run.by,
        input="",
        model=_model(run, settled.control),
        mode=run.mode,
        continues=run.id,
        on_interrupt=run.on_interrupt,
        continued=run.continued + 1,
        wish=run.wish,
    )
    after = replace(desk, active=None, queue=(), control=settled.control)
    accepted = accept(after, prompt, moment)
    next_id = accepted.result.id
    queue = (next_id, *(run_id for run_id in accepted.control.queue if run_id != next_id))
    events = settled.events + accepted.events
    if len(queue) > 1:
        first = SessionUpdated(
            session_id=run.session_id,
            at=moment.now,
            by=moment.by,
            changes=SessionChanges(queue=queue),
        )
        events = (*events, first)
    return replace(
        settled,
        events=events,
        control=replace(accepted.control, queue=queue),
    )


def _goes_on(run: Run) -> bool:
    return (
        run.status is RunStatus.INTERRUPTED
        and run.on_interrupt is OnInterrupt.CONTINUE
        and run.on_disconnect is OnDisconnect.CONTINUE
        and run.continued < MOST_IN_A_ROW
        and run.mode is not Mode.COMPACT
    )


def _model(run: Run, control: Control) -> str:
    model = run.model if control.veil is None else control.veil.model
    return model or ""
