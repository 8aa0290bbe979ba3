"""The sentences for what is not there."""

from tenuto.core.error import InvalidInput, NotFound
from tenuto.core.value import MessageId, SessionId


def no_such(kind: str, id: str) -> NotFound:
    return NotFound(f"there is no {kind} {id}")


def no_user_message(session_id: SessionId, message_id: MessageId | None) -> NotFound:
    if message_id is None:
        return NotFound(f"session {session_id} has no user message yet")
    return NotFound(f"session {session_id} has no user message {message_id}")


def no_file(file_id: str) -> InvalidInput:
    """A prompt brings a file that is not there, or no longer."""
    return InvalidInput(f"there is no file {file_id}")
