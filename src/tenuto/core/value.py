"""The base of every value, and the small types that name what a string means."""

from typing import Any, NewType, dataclass_transform

import msgspec

SessionId = NewType("SessionId", str)
WorkspaceId = NewType("WorkspaceId", str)
RunId = NewType("RunId", str)
MessageId = NewType("MessageId", str)
PartId = NewType("PartId", str)
CallId = NewType("CallId", str)
ApprovalId = NewType("ApprovalId", str)
QuestionId = NewType("QuestionId", str)
JobId = NewType("JobId", str)
FileId = NewType("FileId", str)
ChangeId = NewType("ChangeId", str)
ComparisonId = NewType("ComparisonId", str)
NodeId = NewType("NodeId", str)
PrincipalId = NewType("PrincipalId", str)
StreamId = NewType("StreamId", str)
"""The id of whatever owns a log: a session's or a workspace's."""

Instant = NewType("Instant", str)
"""A moment in UTC as RFC 3339 with milliseconds; instants sort as text."""


class ValueMeta(msgspec.StructMeta):
    """Makes every value frozen and keyword-only without each having to say so."""

    def __new__(
        mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **config: Any
    ) -> Any:
        return super().__new__(
            mcls, name, bases, namespace, **{"frozen": True, "kw_only": True, **config}
        )


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class Value(msgspec.Struct, metaclass=ValueMeta, frozen=True, kw_only=True):
    """A frozen value; a changed one is a new one (`msgspec.structs.replace`)."""
