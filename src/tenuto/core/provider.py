"""Model providers: what names one, and what may be kept of one."""

import re
from enum import StrEnum
from urllib.parse import SplitResult, urlsplit

from tenuto.core.error import InvalidInput
from tenuto.core.value import Value

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
KEY = re.compile(r"[!-~]{1,4000}")
"""What a header can carry."""
MODEL = re.compile(r"\S{1,200}")
LONGEST_URL = 500
MOST_MODELS = 500
RESERVED = frozenset({"embedded"})


class ProviderKind(StrEnum):
    """The wire that a provider speaks."""

    OPENAI_RESPONSES = "openai-responses"
    """OpenAI's own, and of the few who follow it: newer models take tools only there."""
    OPENAI = "openai"
    """Chat completions, which nearly all speak."""
    ANTHROPIC = "anthropic"
    OLLAMA = "ollama"
    """Its own, on which the window can be set."""


class ProviderSource(StrEnum):
    """Where the server knows a provider from. Only those of the settings can be changed."""

    ENVIRONMENT = "environment"
    FILE = "file"
    SETTINGS = "settings"
    LOCAL = "local"


PUBLIC_URLS = {
    ProviderKind.OPENAI_RESPONSES: "https://api.openai.com/v1",
    ProviderKind.OPENAI: "https://api.openai.com/v1",
    ProviderKind.ANTHROPIC: "https://api.anthropic.com",
    ProviderKind.OLLAMA: "http://127.0.0.1:11434",
}


class KeptProvider(Value):
    """A provider that was added while the server ran. Raises InvalidInput for a wrong one."""

    name: str
    kind: ProviderKind
    base_url: str
    key: str = ""
    """Empty: it wants none."""
    models: tuple[str, ...] = ()
    """Names for a provider that does not list its models itself."""

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise InvalidInput(
                "name: use 1 to 32 lower-case letters, digits, dashes and underscores"
            )
        if self.name in RESERVED:
            raise InvalidInput(f"name: {self.name!r} is taken by the server itself")
        must_be_address(self.base_url)
        if self.key and not KEY.fullmatch(self.key):
            raise InvalidInput("key: a key has no spaces, no line breaks and only plain characters")
        if len(self.models) > MOST_MODELS or not all(map(MODEL.fullmatch, self.models)):
            raise InvalidInput("models: give the names of models, without spaces")

    def __repr__(self) -> str:
        return f"KeptProvider(name={self.name!r}, base_url={self.base_url!r})"


def must_be_address(url: str) -> None:
    """An http or https address that carries no secret of its own."""
    try:
        parts = urlsplit(url)
        wrong = parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0
    except ValueError:
        wrong = True
    if wrong or len(url) > LONGEST_URL or re.search(r"[^!-~]", url):
        raise InvalidInput("base_url: give an http or https address")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise InvalidInput("base_url: give the address only; the key has a field of its own")


def shown(url: str) -> str:
    """The address without anything in it that could be a secret."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return SplitResult(parts.scheme, host, parts.path, "", "").geturl()


def is_openai(url: str) -> bool:
    """Whether this is OpenAI itself, and not one of the many who speak as it once did."""
    host = urlsplit(url).hostname or ""
    return host == "openai.com" or host.endswith(".openai.com")


def same_server(one: str, other: str) -> bool:
    """Whether a key that is meant for one address may go to the other."""
    return _origin(one) == _origin(other)


def _origin(url: str) -> tuple[str, str | None, int]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
