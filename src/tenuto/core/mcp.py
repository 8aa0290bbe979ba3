"""MCP servers: programs of others that offer tools, and what may be kept of one."""

import re
from enum import StrEnum
from urllib.parse import urlsplit

import msgspec

from tenuto.core.error import InvalidInput
from tenuto.core.value import Value

NAME = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,30}[a-z0-9])?")
VARIABLE = re.compile(r"(?!LD_)[A-Za-z_][A-Za-z0-9_]{0,199}")
"""Not what a loader goes by: it would be at work before the sandbox is."""
HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}")
HEADER_VALUE = re.compile(r"[ -~]{0,8000}")
LONGEST_TEXT = 8000
LONGEST_URL = 2000
MOST_WORDS = 200
CALL_SECONDS = 120.0
MOST_SECONDS = 3600.0


class McpTransport(StrEnum):
    STDIO = "stdio"
    """A program on the server's machine, spoken with through its input and output."""
    HTTP = "http"


class McpState(StrEnum):
    IDLE = "idle"
    """Nobody needs it now; it is started when somebody does."""
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    NEEDS_LOGIN = "needs_login"
    OFF = "off"
    """It is not used until a person says so."""


class McpSource(StrEnum):
    """Where the server knows it from. Only those of the settings can be changed."""

    FILE = "file"
    SETTINGS = "settings"
    WORKSPACE = "workspace"
    """A `.mcp.json` in the workspace's folder, which counts once a person has allowed it."""


class McpServer(Value):
    """How one is reached. Raises InvalidInput for a wrong one."""

    name: str
    command: str = ""
    """A program, and `args`; or else `url`."""
    args: tuple[str, ...] = ()
    env: dict[str, str] = msgspec.field(default_factory=dict)
    """Variables besides the few that every program gets; some hold a key."""
    url: str = ""
    headers: dict[str, str] = msgspec.field(default_factory=dict)
    tools: tuple[str, ...] | None = None
    """The only ones of its tools that are offered; None: all."""
    trust: bool = False
    """Whether it is believed when it says that a tool only looks."""
    timeout: float = CALL_SECONDS
    """Seconds that one call may take."""
    enabled: bool = True

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name) or "__" in self.name:
            raise InvalidInput(
                "name: use 1 to 32 lower-case letters, digits, dashes and single underscores"
            )
        if bool(self.command) == bool(self.url):
            raise InvalidInput("give a command to start, or the url of a server: one of the two")
        if self.url:
            _must_be_address(self.url)
        words = (self.command, *self.args, *self.env.values(), *(self.tools or ()))
        if len(words) > MOST_WORDS or any(not _is_plain(word) for word in words):
            raise InvalidInput("command, args, env and tools: short texts without zero bytes")
        if not all(map(VARIABLE.fullmatch, self.env)):
            raise InvalidInput(
                "env: a variable's name is letters, digits and underscores, and does not begin with LD_"
            )
        if not all(map(HEADER.fullmatch, self.headers)) or not all(
            map(HEADER_VALUE.fullmatch, self.headers.values())
        ):
            raise InvalidInput("headers: a name and a text of plain characters each")
        if not 1 <= self.timeout <= MOST_SECONDS:
            raise InvalidInput(f"timeout: 1 to {MOST_SECONDS:g} seconds")

    def __repr__(self) -> str:
        return f"McpServer(name={self.name!r})"

    @property
    def transport(self) -> McpTransport:
        return McpTransport.STDIO if self.command else McpTransport.HTTP

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must never be shown."""
        return (*self.env.values(), *self.headers.values())

    def offers(self, tool: str) -> bool:
        return self.tools is None or tool in self.tools


def _is_plain(word: str) -> bool:
    return "\0" not in word and len(word) <= LONGEST_TEXT


def _must_be_address(url: str) -> None:
    try:
        parts = urlsplit(url)
        wrong = parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0
    except ValueError:
        wrong = True
    if wrong or len(url) > LONGEST_URL or re.search(r"[^!-~]", url):
        raise InvalidInput("url: give an http or https address")
    if "@" in parts.netloc:
        raise InvalidInput("url: give the address only; a key goes into the headers")
