"""How long a provider asks us to wait, wherever it says so."""

import math
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from tenuto.agent.providers.connection.complaint import READ_CHARACTERS, Complaint

RETRY_SECONDS = 0.5
"""When a provider does not say how long to wait."""
MOST_RETRY_SECONDS = 24 * 3600.0
"""Nobody waits for longer, whatever a header says."""
HEADER_CHARACTERS = 64
"""Of a header that says when to come back: a date is half as long."""

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_TERM = r"\d{1,9}(?:\.\d{1,9})?\s?(?:ms|[smhd])[a-z]*"
_TERMS = re.compile(rf"(?:{_TERM}\s?)+")
_NUMBER = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s?(ms|[smhd])")
_AGAIN_IN = re.compile(rf"(?:again|retry|wait)(?: in| after)?:? ((?:{_TERM}\s?)+)")
_LIMITS = ("requests", "tokens")


def wait(headers: Mapping[str, str], said: Complaint) -> float:
    """Seconds: as the header that is for it says, else the body, else the limits, else a little."""
    for asked in (_header(headers), said.seconds, _text(said.message), _reset(headers)):
        if asked is not None and not math.isnan(asked):
            return min(max(0.0, asked), MOST_RETRY_SECONDS)
    return RETRY_SECONDS


def _header(headers: Mapping[str, str]) -> float | None:
    try:
        if "retry-after-ms" in headers:
            return float(headers["retry-after-ms"][:HEADER_CHARACTERS]) / 1000
        said = headers.get("retry-after", "")[:HEADER_CHARACTERS]
        if said.replace(".", "", 1).isdigit():
            return float(said)
        return parsedate_to_datetime(said).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError, OSError):
        return None


def _text(message: str) -> float | None:
    found = _AGAIN_IN.search(message[:READ_CHARACTERS].lower())
    return _duration(found[1]) if found else None


def _reset(headers: Mapping[str, str]) -> float | None:
    """When the limit that is used up begins anew; those that are not do not matter."""
    waits = []
    for limit in _LIMITS:
        left = headers.get(f"x-ratelimit-remaining-{limit}", "").strip()
        reset = headers.get(f"x-ratelimit-reset-{limit}", "")[:HEADER_CHARACTERS].strip()
        if left.startswith(("0", "-")) and _TERMS.fullmatch(reset):
            waits.append(_duration(reset))
    return max(waits, default=None)


def _duration(said: str) -> float:
    """Of `1m20.5s` and the like."""
    return sum(float(number) * _UNITS[unit] for number, unit in _NUMBER.findall(said))
