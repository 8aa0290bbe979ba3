"""Requests that may come twice."""

from datetime import datetime, timedelta
from typing import Any

import msgspec

from tenuto.core.error import IdempotencyMismatch
from tenuto.core.value import Instant, Value
from tenuto.ports.query import Once

KEPT = timedelta(hours=24)


class Answer(Value):
    """The first result of a request, kept for its repetitions."""

    once: Once
    owner: str | None
    """The id of the session or comparison with which it goes; None for workspaces and files."""
    body: bytes

    def again(self, once: Once, kind: Any) -> Any:
        """The same result for the same request. Raises IdempotencyMismatch for another."""
        if once.digest != self.once.digest:
            raise IdempotencyMismatch("this Idempotency-Key was used with another request")
        return msgspec.json.decode(self.body, type=Any if kind is None else kind)


def first(once: Once, owner: str | None, result: object) -> Answer:
    return Answer(once=once, owner=owner, body=msgspec.json.encode(result))


def forgotten_before(before: Instant) -> Instant:
    """Requests older than this are forgotten."""
    moment = datetime.fromisoformat(before) - KEPT
    return Instant(moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"))
