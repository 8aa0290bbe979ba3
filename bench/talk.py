"""Talks that are put into a database as they are: by prompts, a long one would take hours."""

from collections.abc import Collection, Sequence

from tenuto.clock import SystemClock
from tenuto.core.event import Event, MessageFinished, MessageStarted, PartStarted, Stored
from tenuto.core.message import Message, TextPart
from tenuto.core.session import DEFAULT_WORKSPACE, Session, TitleSource
from tenuto.core.value import MessageId, PartId, SessionId, StreamId


class Deaf:
    """A sink for a store that nobody watches."""

    def committed(self, stream: StreamId, events: Sequence[Stored]) -> None: ...

    def changed(self, session_id: SessionId) -> None: ...

    def rang(self, streams: Collection[StreamId]) -> None: ...

    def rang_changed(self, session_ids: Collection[SessionId]) -> None: ...

    def rang_kept(self, name: str) -> None: ...

    def resync(self) -> None: ...


def session_of(name: str, title: str) -> Session:
    now = SystemClock().now()
    return Session(
        id=SessionId(name),
        workspace_id=DEFAULT_WORKSPACE,
        title=title,
        title_source=TitleSource.USER,
        created_at=now,
        updated_at=now,
    )


def message_of(session: Session, n: int, words: str) -> Message:
    """The n-th message: the user's and the assistant's take turns."""
    return Message(
        id=MessageId(f"msg_{session.id}_{n}"),
        session_id=session.id,
        run_id=None,
        role="user" if n % 2 == 0 else "assistant",
        parts=(TextPart(id=PartId(f"prt_{session.id}_{n}"), text=words),),
        finish_reason="end_turn",
        created_at=session.created_at,
    )


def said(message: Message) -> list[Event]:
    """The events that a finished message leaves in the log."""
    session_id, at = message.session_id, message.created_at
    if message.role == "user":
        return [MessageStarted(session_id=session_id, at=at, message=message)]
    empty = Message(
        id=message.id, session_id=session_id, run_id=None, role="assistant", created_at=at
    )
    return [
        MessageStarted(session_id=session_id, at=at, message=empty),
        PartStarted(session_id=session_id, at=at, message_id=message.id, part=message.parts[0]),
        MessageFinished(
            session_id=session_id, at=at, message_id=message.id, finish_reason="end_turn"
        ),
    ]
