"""The sentences for what is not there."""

from tenuto.core.error import NotFound
from tenuto.core.value import MessageId, SessionId


def no_such(kind: str, id: str) -> NotFound:
    return NotFound(f"there is no {kind} {id}")


def no_user_message(session_id: SessionId, message_id: MessageId | None) -> NotFound:
    if message_id is None:
        return NotFound(f"session {session_id} has no user message yet")
    return NotFound(f"session {session_id} has no user message {message_id}")
