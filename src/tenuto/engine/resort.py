"""The last resort: an ending that the store refuses is written with less, until it takes it."""

import logging
from enum import IntEnum

from msgspec.structs import replace

from tenuto.core.desk import Desk
from tenuto.core.error import NotFound
from tenuto.core.message import Message, assistant_message
from tenuto.core.run import Ending, Reason, RunError, RunStatus, Usage
from tenuto.core.value import RunId, SessionId
from tenuto.ports.store import Store

log = logging.getLogger(__name__)

MISTAKE = "The server made a mistake."


class Resort(IntEnum):
    """How much of an ending is written."""

    WHOLE = 0
    BARE = 1
    """Nothing that came from outside: no usage, no words of an error."""
    EMPTY = 2
    """Nor the answer's parts, as if nothing could be read of it; the log still has them."""


LADDER = (Resort.WHOLE, Resort.WHOLE, Resort.BARE, Resort.BARE, Resort.EMPTY)
"""What each attempt writes, the last one for ever: what was refused once may be taken twice."""


def lessened(ending: Ending, resort: Resort) -> Ending:
    if resort is Resort.WHOLE:
        return ending
    if resort is Resort.EMPTY:
        ending = Ending(status=RunStatus.FAILED, reason=Reason.INTERNAL)
    error = None
    if ending.status is RunStatus.FAILED:
        error = RunError(code=str(ending.reason), message=MISTAKE)
    return replace(ending, usage=Usage(exact=False), error=error)


def emptied(desk: Desk) -> Message | None:
    """The open message of the active run, as if it had no parts."""
    run, message_id = desk.active, desk.control.open_message
    if run is None or message_id is None:
        return None
    made = assistant_message(run, of=run.id, now=run.started_at or run.accepted_at)
    return replace(made, id=message_id)


def complain(error: Exception, run_id: RunId) -> None:
    """A session that is just being deleted is the one refusal that nobody has to look into."""
    level = logging.WARNING if isinstance(error, NotFound) else logging.ERROR
    log.log(level, "the ending was refused", exc_info=error, extra={"run_id": run_id})


async def is_gone(store: Store, session_id: SessionId) -> bool:
    """Whether the session itself is what was not found."""
    try:
        await store.control(session_id)
    except NotFound:
        return True
    except Exception:  # noqa: BLE001  nobody can say: then its run is still to be ended
        return False
    return False
