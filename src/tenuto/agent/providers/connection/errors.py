"""What providers and the network say when something is wrong, in our words and without secrets."""

import re
from collections.abc import Mapping
from typing import Any

from tenuto.agent.providers.connection.complaint import PASSING, complaint, complaint_of
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
from tenuto.agent.providers.connection.patience import RETRY_SECONDS, wait
from tenuto.agent.providers.connection.refusal import Refusal, refusal
from tenuto.agent.providers.connection.secret import spellings
from tenuto.agent.providers.connection.split import mended
from tenuto.core.run import Reason
from tenuto.core.text import cut
from tenuto.ports.model import ProviderError, Trouble

_KEY_LIKE = re.compile(r"\b(?:sk|pk|gsk|xai|key|AIza)[-_][\w*.…-]{8,}")
_LONGEST = 600
BROKE_OFF = "closed the connection before the answer was finished"
ABOUT_REQUEST = frozenset({Trouble.TOO_LONG, Trouble.TOOLS, Trouble.IMAGE, Trouble.PARAMETER})
"""No waiting helps: another request might."""


class Border:
    """Makes a ProviderError of whatever a provider answers; its key never comes out."""

    def __init__(self, provider: str, *, secret: str) -> None:
        self._provider = provider
        self._secret = spellings(secret)

    def refused(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
        """An HTTP answer that is not the one that was asked for."""
        said = complaint(body)
        text = self._clean(said.message)
        found = refusal(status, said)
        if found.trouble in ABOUT_REQUEST and said.code != "model_not_found":
            return self._refusal(found, text)
        unknown = status == 404 and "model" in said.message.lower()
        if unknown or said.code == "model_not_found":
            return self._unknown_model(text)
        if status == 401:
            return self._error("refused the key (401): check that it is set")
        if status == 403:
            return self._error(f"refused the key (403){text}")
        if status == 404:
            return self._error("has nothing at this address (404): check the base URL")
        passing = status in PASSING and not said.final
        return self._refusal(found, text, wait(headers, said) if passing else None)

    def complained(self, error: Any) -> ProviderError:
        """An error that came inside an answer."""
        said = complaint_of(error)
        text = self._clean(said.message)
        if said.code == "model_not_found":
            return self._unknown_model(text)
        found = refusal(0, said)
        passing = said.passing and found.trouble not in ABOUT_REQUEST
        return self._refusal(found, text, wait({}, said) if passing else None)

    def failed(self, error: BaseException) -> ProviderError:
        """The network's failure."""
        for kinds, words, trouble, seconds in _NETWORK:
            if isinstance(error, kinds):
                silent = trouble is Trouble.SILENT
                reason = Reason.PROVIDER_STALLED if silent else Reason.PROVIDER_ERROR
                return self._error(words, trouble, seconds, reason=reason)
        raise error

    def broke_off(self) -> ProviderError:
        """The stream ended before the answer did."""
        return self._error(BROKE_OFF, Trouble.BROKEN, RETRY_SECONDS)

    def unreadable(self, why: str | BaseException) -> ProviderError:
        said = "it is nested too deeply" if isinstance(why, RecursionError) else str(why)
        return self._error(f"sent something that cannot be read{self._clean(said)}")

    def too_large(self, words: str) -> ProviderError:
        """The answer outgrew what any answer needs."""
        return self._error(words, reason=Reason.TOO_LARGE)

    def _unknown_model(self, text: str) -> ProviderError:
        return self._error(f"does not have this model{text}", reason=Reason.MODEL_NOT_FOUND)

    def _refusal(self, found: Refusal, text: str, seconds: float | None = None) -> ProviderError:
        return self._error(found.words + text, found.trouble, seconds, parameter=found.parameter)

    def _error(
        self,
        words: str,
        trouble: Trouble = Trouble.OTHER,
        seconds: float | None = None,
        *,
        reason: Reason = Reason.PROVIDER_ERROR,
        parameter: str = "",
    ) -> ProviderError:
        return ProviderError(
            reason,
            f"{self._provider} {words}",
            retry_after=seconds,
            trouble=trouble,
            parameter=parameter,
        )

    def _clean(self, said: str) -> str:
        """The provider's own words, ready to follow ours."""
        # Masked before it is cut: the cut must not leave half a key.
        said = self._secret.sub("***", " ".join(mended(said).split()))
        said = cut(_KEY_LIKE.sub("***", said), _LONGEST)
        return f": {said}" if said else ""


_Kinds = type[BaseException] | tuple[type[BaseException], ...]
_Row = tuple[_Kinds, str, Trouble, float | None]
_NETWORK: tuple[_Row, ...] = (
    (Silent, "fell silent: no byte came within the limit", Trouble.SILENT, None),
    (
        (TooSlow, TimeoutError),
        "could not be reached within the limit",
        Trouble.BROKEN,
        RETRY_SECONDS,
    ),
    (Untrusted, "showed a certificate that is not trusted", Trouble.OTHER, None),
    (
        UnknownHost,
        "could not be found: its host name is not known",
        Trouble.BROKEN,
        RETRY_SECONDS,
    ),
    (Unreachable, "could not be reached", Trouble.BROKEN, RETRY_SECONDS),
    (BadAddress, "has a base URL or a key that makes no sense", Trouble.OTHER, None),
    (BrokenOff, BROKE_OFF, Trouble.BROKEN, RETRY_SECONDS),
    (NotHttp, "sent something that is no answer", Trouble.BROKEN, RETRY_SECONDS),
    (NetworkTrouble, "could not be asked: the connection failed", Trouble.BROKEN, RETRY_SECONDS),
)
"""The first row that fits counts, so the narrow ones come first."""
