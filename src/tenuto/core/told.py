"""The events that several decisions tell in the same words, and what they leave of a queue."""

from typing import TypeVar

from tenuto.core.desk import Change, Moment
from tenuto.core.event import Event, MessageFinished, MessageStarted, RunFinished
from tenuto.core.message import Message
from tenuto.core.run import Ending, Run
from tenuto.core.session import Control
from tenuto.core.value import RunId

T = TypeVar("T")


def message_started(message: Message, run: Run, moment: Moment) -> Event:
    return MessageStarted(
        session_id=run.session_id,
        run_id=message.run_id,
        at=moment.now,
        by=moment.by,
        message=message,
    )


def message_finished(message: Message, run: Run, ending: Ending, moment: Moment) -> Event:
    return MessageFinished(
        session_id=run.session_id,
        run_id=run.id,
        at=moment.now,
        by=moment.by,
        message_id=message.id,
        finish_reason=ending.finish_reason,
    )


def run_finished(run: Run, moment: Moment) -> Event:
    return RunFinished(
        session_id=run.session_id, run_id=run.id, at=moment.now, by=moment.by, run=run
    )


def without(control: Control, run: Run) -> tuple[RunId, ...]:
    """The queue without this run."""
    return tuple(run_id for run_id in control.queue if run_id != run.id)


def with_result(change: Change[object], result: T) -> Change[T]:
    """The same change, told in another way."""
    return Change(
        events=change.events, control=change.control, result=result, finished=change.finished
    )
