"""Tools: what an agent can do in a workspace."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

import msgspec

from tenuto.core.rule import Subject
from tenuto.core.value import CallId, SessionId, Value
from tenuto.ports.model import ToolSpec


class ToolFailed(Exception):
    """The tool could not do it. The message is its result, for the model to read."""


async def nothing_attached(file_id: str) -> bytes:
    raise ToolFailed(f"There is no file {file_id} in this conversation.")


class Place(Value):
    """Where a tool works, and how it tells what it has so far."""

    folder: Path
    """The workspace's folder; no path may leave it, also not through links."""
    session_id: SessionId = SessionId("")
    """The conversation that the call is of."""
    call_id: CallId
    progress: Callable[[str], None]
    """Told the whole output so far (capped); may be called often, from the event loop."""
    attached: Callable[[str], Awaitable[bytes]] = nothing_attached
    """A file that was attached to the conversation, by its id. Raises ToolFailed."""


class ToolResult(Value):
    """What came of a call: for the model to read, and for people to see."""

    text: str
    """Capped, the cap said."""
    details: dict[str, Any] = msgspec.field(default_factory=dict)
    """For clients only: a diff, an exit code, how many matched."""


class Tool(Protocol):
    spec: ToolSpec
    changes: bool
    """True if it changes something or reaches out: then it asks by default."""

    async def subject(self, arguments: dict[str, Any], place: Place) -> Subject:
        """What the call is about, for rules to judge; nothing is done yet. Raises ToolFailed for
        one that could only fail."""

    async def run(self, arguments: dict[str, Any], place: Place) -> ToolResult:
        """Do it and return what came of it. Raises ToolFailed.

        A cancel ends everything that it started, to the last grandchild, before it comes out.
        """
