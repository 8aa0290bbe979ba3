"""What a provider says is wrong, read from whatever shape it says it in."""

import json
import re
from typing import Any

import msgspec

from tenuto.agent.providers.connection.foreign import UNREADABLE, at
from tenuto.core.value import Value

PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
"""Statuses after which the same request may go through."""
READ_CHARACTERS = 4000
"""Of a complaint, by what looks for its meaning: the longest that are known say it in the first."""
MOST_DETAILS = 8

_PASSING_TYPES = re.compile(r"overloaded|rate_limit|server_error|api_error|timeout|unavailable")
_NEVER_TYPES = re.compile(r"insufficient_quota|billing|invalid_request|authentication|permission")
_UNPAID = re.compile(
    r"credit balance|insufficient (?:balance|credit)|(?:out of|no) credits", re.IGNORECASE
)
_SECONDS = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s")


class Complaint(Value):
    message: str = ""
    code: str = ""
    kind: str = ""
    status: int = 0
    parameter: str = ""
    """The field of the request that it is about, as far as it is named apart from the message."""
    seconds: float | None = None
    """To wait, where the body says so."""

    @property
    def final(self) -> bool:
        """True if waiting does not help, whatever the status."""
        return self.unpaid or bool(_NEVER_TYPES.search(self.type))

    @property
    def unpaid(self) -> bool:
        """Not by the words about plans and billing: some say those of every limit."""
        named = any(word in self.type for word in ("insufficient_quota", "billing"))
        return named or bool(_UNPAID.search(self.message[:READ_CHARACTERS]))

    @property
    def passing(self) -> bool:
        known = _PASSING_TYPES.search(self.type)
        return not self.final and (self.status in PASSING or bool(known))

    @property
    def type(self) -> str:
        return f"{self.code} {self.kind}"

    @property
    def words(self) -> str:
        """All that may tell what it is about."""
        return f"{self.type} {self.message[:READ_CHARACTERS]}"


def complaint(body: bytes) -> Complaint:
    """Of an answer's whole body."""
    try:
        said = msgspec.json.decode(body)
    except UNREADABLE:
        text = body.decode("utf-8", "replace").strip()
        # A proxy's error page says nothing to people, nor does broken JSON.
        return Complaint(message="" if text.startswith(("<", "[", "{")) else text)
    if isinstance(said, list) and said:
        said = said[0]
    return complaint_of(at(said, "error") or said)


def complaint_of(error: Any) -> Complaint:
    if not isinstance(error, dict):
        return Complaint(message=error if isinstance(error, str) else "")
    code, said = error.get("code"), error.get("message") or error.get("detail")
    details = at(said, "detail") or said
    return Complaint(
        message=_words(said or error.get("error") or ""),
        code=_words(code or ""),
        kind=_words(error.get("type") or ""),
        status=code if isinstance(code, int) else 0,
        parameter=_words(error.get("param") or "") or _place(details),
        seconds=_delay(error.get("details")),
    )


def _words(given: Any) -> str:
    """What is said, whatever it is said with."""
    if isinstance(given, str):
        return given
    try:
        return json.dumps(given, ensure_ascii=False)
    except UNREADABLE:
        return ""


def _place(details: Any) -> str:
    """Where in the request the first of several mistakes is; empty if that is not said."""
    for detail in details[:MOST_DETAILS] if isinstance(details, list) else ():
        place = at(detail, "loc")
        if isinstance(place, list):
            return ".".join(str(step) for step in place[:MOST_DETAILS] if step != "body")
    return ""


def _delay(details: Any) -> float | None:
    """How long Google asks us to wait, among what else it tells."""
    for detail in details[:MOST_DETAILS] if isinstance(details, list) else ():
        said = at(detail, "retryDelay")
        if isinstance(said, str) and (found := _SECONDS.fullmatch(said)):
            return float(found[1])
    return None
