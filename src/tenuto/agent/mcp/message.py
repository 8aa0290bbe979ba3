"""What the server and its host process say to each other: a line of JSON each.

The host knows nothing but what it is told here; what it makes of a server's words is told here too.
"""

from typing import Any

import msgspec

from tenuto.agent.tools.processes.tree import Command
from tenuto.core.value import Value
from tenuto.ports.mcp import McpListing

LONGEST_LINE = 64_000_000


class Program(Value, tag_field="how", tag="program"):
    """A server that is started here."""

    command: Command


class Address(Value, tag_field="how", tag="address"):
    """A server that is reached by HTTP."""

    url: str
    headers: dict[str, str]
    home: str
    """Where a person who signs in there comes back to."""
    login: str
    """What signing in gave before; empty: nothing."""

    def __repr__(self) -> str:
        return f"Address(url={self.url!r})"


class Order(Value, tag_field="do"):
    """What the server says."""


class Open(Order, tag="open"):
    key: int
    server: Program | Address


class Close(Order, tag="close"):
    key: int


class CallTool(Order, tag="call"):
    id: int
    key: int
    tool: str
    arguments: dict[str, Any]


class ReadResource(Order, tag="read"):
    id: int
    key: int
    uri: str


class GetPrompt(Order, tag="prompt"):
    id: int
    key: int
    name: str
    arguments: dict[str, str]


class Cancel(Order, tag="cancel"):
    """It is answered as every request, once the server has been told."""

    id: int


class Answered(Order, tag="answered"):
    """A person's answer to what a server asked; None: nobody gave one."""

    ask: int
    answers: dict[str, Any] | None


class SignedIn(Order, tag="signed_in"):
    key: int
    code: str
    state: str
    issuer: str | None

    def __repr__(self) -> str:
        return f"SignedIn(key={self.key})"


class Beat(Order, tag="beat"):
    """The server does not stand still."""


class HostWord(Value, tag_field="says"):
    """What the host says."""


class Opened(HostWord, tag="opened"):
    """The server is ready, or offers something else now."""

    key: int
    listing: McpListing


class HungUp(HostWord, tag="hung_up"):
    """The server has hung up; what is left of it is being ended."""

    key: int


class Closed(HostWord, tag="closed"):
    """The connection is over, whoever ended it; nothing more comes of it."""

    key: int
    error: str | None


class NeedsLogin(HostWord, tag="needs_login"):
    key: int
    url: str
    state: str


class LoggedIn(HostWord, tag="logged_in"):
    """Keep this, and give it again the next time."""

    key: int
    login: str

    def __repr__(self) -> str:
        return f"LoggedIn(key={self.key})"


class GivenImage(Value):
    media_type: str
    content: bytes


class Done(HostWord, tag="done"):
    id: int
    text: str = ""
    pictures: tuple[GivenImage, ...] = ()
    failed: bool = False
    media_type: str = ""
    """Of a resource."""
    content: bytes = b""


class Failed(HostWord, tag="failed"):
    """It could not be done; the text is for the model and for people."""

    id: int
    error: str


class Progressed(HostWord, tag="progress"):
    id: int
    text: str


class Wanted(Value):
    """One thing that a server wants to know from a person."""

    name: str
    """What the server calls it."""
    text: str
    choices: tuple[str, ...] = ()
    multiple: bool = False
    required: bool = True


class Asks(HostWord, tag="asks"):
    ask: int
    id: int | None
    """The call that it is about, if the server says so."""
    key: int
    text: str
    wanted: tuple[Wanted, ...] = ()
    url: str = ""
    """A page to visit instead."""


class Unasked(HostWord, tag="unasked"):
    """The server no longer wants to know."""

    ask: int
    key: int


Orders = Open | Close | CallTool | ReadResource | GetPrompt | Cancel | Answered | SignedIn | Beat
Words = (
    Opened | HungUp | Closed | NeedsLogin | LoggedIn | Done | Failed | Progressed | Asks | Unasked
)

_encoder = msgspec.json.Encoder()
orders: msgspec.json.Decoder[Orders] = msgspec.json.Decoder(Orders)
words: msgspec.json.Decoder[Words] = msgspec.json.Decoder(Words)


def line(message: Order | HostWord) -> bytes:
    return _encoder.encode(message) + b"\n"
