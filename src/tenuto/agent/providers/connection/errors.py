"""What providers and the network say when something is wrong, in our words and without secrets."""

import json
import math
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from tenuto.agent.providers.connection.foreign import UNREADABLE, at
from tenuto.agent.providers.connection.line import (
    BadAddress,
    BrokenOff,
    NetworkTrouble,
    NotHttp,
    Silent,
    TooSlow,
    UnknownHost,
    Unreachable,
    Untrusted,
)
from tenuto.agent.providers.connection.secret import spellings
from tenuto.agent.providers.connection.split import mended
from tenuto.core.run import Reason
from tenuto.core.text import cut
from tenuto.ports.model import ProviderError

RETRY_SECONDS = 0.5
"""When a provider does not say how long to wait."""
MOST_RETRY_SECONDS = 24 * 3600.0
"""Nobody waits for longer, whatever a header says."""

PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
"""Statuses after which the same request may go through."""

_PASSING_TYPES = re.compile(r"overloaded|rate_limit|server_error|api_error|timeout|unavailable")
_NEVER_TYPES = re.compile(r"insufficient_quota|billing|invalid_request|authentication|permission")
_KEY_LIKE = re.compile(r"\b(?:sk|pk|gsk|xai|key|AIza)[-_][\w*.…-]{8,}")
_LONGEST = 600
_HEADER_CHARACTERS = 64
"""Of a header that says when to come back: a date is half as long."""


class Border:
    """Makes a ProviderError of whatever a provider answers; its key never comes out."""

    def __init__(self, provider: str, *, secret: str) -> None:
        self._provider = provider
        self._secret = spellings(secret)

    def refused(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
        """An HTTP answer that is not the one that was asked for."""
        said = _complaint(body)
        text = self._clean(said.message)
        unknown = status == 404 and "model" in said.message.lower()
        if unknown or said.code == "model_not_found":
            return self._error(Reason.MODEL_NOT_FOUND, f"does not have this model{text}")
        if status == 401:
            return self._error(Reason.PROVIDER_ERROR, "refused the key (401): check that it is set")
        if status == 403:
            return self._error(Reason.PROVIDER_ERROR, f"refused the key (403){text}")
        if status == 404:
            hint = "has nothing at this address (404): check the base URL"
            return self._error(Reason.PROVIDER_ERROR, hint)
        wait = _wait(headers) if status in PASSING and not said.final else None
        return self._error(Reason.PROVIDER_ERROR, f"answered {status}{text}", wait)

    def complained(self, error: Any) -> ProviderError:
        """An error that came inside an answer."""
        said = _complaint_of(error)
        text = self._clean(said.message)
        if said.code == "model_not_found":
            return self._error(Reason.MODEL_NOT_FOUND, f"does not have this model{text}")
        wait = RETRY_SECONDS if said.passing else None
        return self._error(Reason.PROVIDER_ERROR, f"broke off with an error{text}", wait)

    def failed(self, error: BaseException) -> ProviderError:
        """The network's failure."""
        for kinds, reason, words, wait in _NETWORK:
            if isinstance(error, kinds):
                return self._error(reason, words, wait)
        raise error

    def broke_off(self) -> ProviderError:
        """The stream ended before the answer did."""
        words = "closed the connection before the answer was finished"
        return self._error(Reason.PROVIDER_ERROR, words, RETRY_SECONDS)

    def unreadable(self, why: str | BaseException) -> ProviderError:
        said = "it is nested too deeply" if isinstance(why, RecursionError) else str(why)
        return self._error(
            Reason.PROVIDER_ERROR, f"sent something that cannot be read{self._clean(said)}"
        )

    def too_large(self, words: str) -> ProviderError:
        """The answer outgrew what any answer needs."""
        return self._error(Reason.TOO_LARGE, words)

    def _error(self, reason: Reason, words: str, wait: float | None = None) -> ProviderError:
        return ProviderError(reason, f"{self._provider} {words}", retry_after=wait)

    def _clean(self, said: str) -> str:
        """The provider's own words, ready to follow ours."""
        # Masked before it is cut: the cut must not leave half a key.
        said = self._secret.sub("***", " ".join(mended(said).split()))
        said = cut(_KEY_LIKE.sub("***", said), _LONGEST)
        return f": {said}" if said else ""


_Kinds = type[BaseException] | tuple[type[BaseException], ...]
_Row = tuple[_Kinds, Reason, str, float | None]
_NETWORK: tuple[_Row, ...] = (
    (Silent, Reason.PROVIDER_STALLED, "fell silent: no byte came within the limit", None),
    (
        (TooSlow, TimeoutError),
        Reason.PROVIDER_ERROR,
        "could not be reached within the limit",
        RETRY_SECONDS,
    ),
    (Untrusted, Reason.PROVIDER_ERROR, "showed a certificate that is not trusted", None),
    (
        UnknownHost,
        Reason.PROVIDER_ERROR,
        "could not be found: its host name is not known",
        RETRY_SECONDS,
    ),
    (Unreachable, Reason.PROVIDER_ERROR, "could not be reached", RETRY_SECONDS),
    (BadAddress, Reason.PROVIDER_ERROR, "has a base URL or a key that makes no sense", None),
    (
        BrokenOff,
        Reason.PROVIDER_ERROR,
        "closed the connection before the answer was finished",
        RETRY_SECONDS,
    ),
    (NotHttp, Reason.PROVIDER_ERROR, "sent something that is no answer", RETRY_SECONDS),
    (
        NetworkTrouble,
        Reason.PROVIDER_ERROR,
        "could not be asked: the connection failed",
        RETRY_SECONDS,
    ),
)
"""The first row that fits counts, so the narrow ones come first."""


class _Complaint(msgspec.Struct):
    message: str = ""
    code: str = ""
    kind: str = ""
    status: int = 0

    @property
    def final(self) -> bool:
        """True if waiting does not help, whatever the status."""
        return bool(_NEVER_TYPES.search(f"{self.code} {self.kind}"))

    @property
    def passing(self) -> bool:
        known = _PASSING_TYPES.search(f"{self.code} {self.kind}")
        return not self.final and (self.status in PASSING or bool(known))


def _complaint(body: bytes) -> _Complaint:
    try:
        said = msgspec.json.decode(body)
    except UNREADABLE:
        text = body.decode("utf-8", "replace").strip()
        # A proxy's error page says nothing to people, nor does broken JSON.
        return _Complaint(message="" if text.startswith(("<", "[", "{")) else text)
    if isinstance(said, list) and said:
        said = said[0]
    return _complaint_of(at(said, "error") or said)


def _complaint_of(error: Any) -> _Complaint:
    if not isinstance(error, dict):
        return _Complaint(message=error if isinstance(error, str) else "")
    code = error.get("code")
    return _Complaint(
        message=_words(error.get("message") or error.get("detail") or error.get("error") or ""),
        code=_words(code or ""),
        kind=_words(error.get("type") or ""),
        status=code if isinstance(code, int) else 0,
    )


def _words(given: Any) -> str:
    """What is said, whatever it is said with."""
    if isinstance(given, str):
        return given
    try:
        return json.dumps(given, ensure_ascii=False)
    except UNREADABLE:
        return ""


def _wait(headers: Mapping[str, str]) -> float:
    """Seconds to wait, as the provider asks, else a little."""
    try:
        if "retry-after-ms" in headers:
            return _seconds(float(headers["retry-after-ms"][:_HEADER_CHARACTERS]) / 1000)
        said = headers.get("retry-after", "")[:_HEADER_CHARACTERS]
        if said.replace(".", "", 1).isdigit():
            return _seconds(float(said))
        return _seconds(parsedate_to_datetime(said).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError, OSError):
        return RETRY_SECONDS


def _seconds(said: float) -> float:
    """A time that one can wait for; no number is no wish."""
    if math.isnan(said):
        return RETRY_SECONDS
    return min(max(0.0, said), MOST_RETRY_SECONDS)
