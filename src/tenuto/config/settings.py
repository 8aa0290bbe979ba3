"""Every setting: its name, type, range, default and meaning, said once.

The command line, the environment, `tenuto.toml`, `--help` and `docs/configuration.md` are all
read off these annotations (see `table.py`).
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Meta

from tenuto.config.limits import LimitSettings
from tenuto.config.provider import WITHOUT_SPACES, ProviderSettings
from tenuto.config.search import SearchSettings
from tenuto.config.secret import Secret
from tenuto.core.mcp import McpServer
from tenuto.core.rule import Rule
from tenuto.core.sandbox import SandboxWish
from tenuto.core.value import Value

KEY_CHARACTERS = 16
"""A header's text below this length is no key, and hiding it would make logs unreadable."""

SQLITE_FILE = "tenuto.sqlite3"
SQLITE_URL = "sqlite:///"
MEMORY_URL = "memory:"
NO_SPACES = "a text without spaces"
POSTGRES_URL = ("postgresql://", "postgres://")
DATABASE = r"^(sqlite:///.+|memory:|postgres(ql)?://\S+)$"
DIRECT = r"^postgres(ql)?://\S+$"
NODE = r"^(?!shared$)[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"
SECRET = r"^\S{16,}$"
ORIGIN = r"^https?://[^/\s]+$"


class Permissions(StrEnum):
    """What happens when a tool wants to change something or reach out."""

    ASK = "ask"
    ALLOW = "allow"
    DENY = "deny"


class LogLevel(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogFormat(StrEnum):
    AUTO = "auto"
    """Human on a terminal, JSON otherwise."""
    HUMAN = "human"
    JSON = "json"


class ToolLimits(Value):
    allow_private_addresses: Annotated[
        bool, Meta(description="Let `fetch_url` reach private, loopback and link-local addresses.")
    ] = False
    output_characters: Annotated[
        int, Meta(ge=1000, le=1_000_000, description="Cap on what a tool returns.")
    ] = 30_000
    at_once: Annotated[
        int,
        Meta(ge=1, description="Calls that only look, such as searches, at once; a run gets half."),
    ] = 8
    shell_seconds: Annotated[
        float, Meta(gt=0, description="How long a shell command may take unless the call says.")
    ] = 120
    sandbox: Annotated[
        SandboxWish,
        Meta(
            description="Keep commands in their workspace and out of the data folder: `auto` where the "
            "system can, `on` or else not run them."
        ),
    ] = SandboxWish.AUTO
    writable: Annotated[
        tuple[Path, ...],
        Meta(description="Folders that commands in the sandbox may write in besides."),
    ] = ()


class EmbeddedSettings(Value):
    enabled: Annotated[
        bool, Meta(description="Answer with the embedded model when no provider is configured.")
    ] = True
    file: Annotated[
        Path | None,
        Meta(
            description="A GGUF file to run instead of the small model; it is offered beside others, "
            "with tools if its chat template has them.",
            extra={"default": "the small model that is fetched when it is first asked"},
        ),
    ] = None
    window: Annotated[
        int,
        Meta(ge=512, description="Tokens that the model of `embedded.file` gets, at most."),
    ] = 16_384
    idle_seconds: Annotated[
        float, Meta(gt=0, description="Stop the embedded model after this long without work.")
    ] = 600


class LogSettings(Value):
    level: Annotated[LogLevel, Meta(description="The least that is logged.")] = LogLevel.INFO
    format: Annotated[
        LogFormat, Meta(description="How: `auto` is `human` on a terminal and `json` elsewhere.")
    ] = LogFormat.AUTO


class Settings(Value):
    """All that a server is told when it starts."""

    host: Annotated[
        str, Meta(pattern=WITHOUT_SPACES, title=NO_SPACES, description="The address to listen on.")
    ] = "127.0.0.1"
    port: Annotated[
        int, Meta(ge=0, le=65535, description="The port to listen on; 0: any free one.")
    ] = 8383
    data: Annotated[
        Path,
        Meta(
            description="The folder that everything is kept in.",
            extra={"default": "`$XDG_DATA_HOME/tenuto`, else `~/.local/share/tenuto`"},
        ),
    ]
    token: Annotated[
        Secret | None,
        Meta(
            pattern=WITHOUT_SPACES,
            title=NO_SPACES,
            description="What clients must show.",
            extra={"default": "made once, kept in `DATA/token`"},
        ),
    ] = None
    database: Annotated[
        str,
        Meta(
            pattern=DATABASE,
            title=f"`sqlite:///FILE`, `postgresql://…` or `{MEMORY_URL}`",
            description="`sqlite:///FILE` (`sqlite:////FILE` from the root), `memory:`, or "
            "`postgresql://USER@HOST/NAME`, which any number of nodes can share.",
            extra={"default": "one SQLite file in the data folder"},
        ),
    ] = ""
    database_direct: Annotated[
        str,
        Meta(
            pattern=DIRECT,
            title="`postgresql://…`",
            description="The same database without a pooler between, if `database` leads to one.",
            extra={"default": "as `database`"},
        ),
    ] = ""
    node: Annotated[
        str,
        Meta(
            pattern=NODE,
            title="1 to 63 letters, digits, dots, dashes and underscores, and not `shared`",
            description="The name of this node among those that share a database.",
            extra={"default": "made once, kept in `DATA/node`"},
        ),
    ] = ""
    workspaces: Annotated[
        Path | None,
        Meta(
            description="With PostgreSQL: the folder that holds shared workspaces, on a file system "
            "that every node has, at whatever path.",
        ),
    ] = None
    workers: Annotated[
        int,
        Meta(
            ge=1, le=64, description="With PostgreSQL: nodes to start on this machine, on one port."
        ),
    ] = 1
    secret: Annotated[
        Secret | None,
        Meta(
            pattern=SECRET,
            title="a text of 16 characters or more, without spaces",
            description="What keys of providers are encrypted with in the database; the same on every "
            "node.",
            extra={"default": "made once, kept in `DATA/secret`"},
        ),
    ] = None
    drain: Annotated[
        float, Meta(ge=0, description="Seconds that active runs get to end when the server stops.")
    ] = 20
    model: Annotated[
        str,
        Meta(
            description="The model for sessions that name none, as `provider/model`.",
            extra={"default": "one of the first provider's"},
        ),
    ] = ""
    small_model: Annotated[
        str,
        Meta(
            description="The model for titles and summaries, as `provider/model`.",
            extra={"default": "the cheapest of the provider that is asked"},
        ),
    ] = ""
    titles: Annotated[
        bool, Meta(description="Make titles in the background; each costs a model request.")
    ] = True
    permissions: Annotated[
        Permissions, Meta(description="What happens when a tool wants to change something.")
    ] = Permissions.ASK
    discover: Annotated[
        bool | None,
        Meta(
            description="Look for model servers on the usual local ports.",
            extra={"default": "`on`; with PostgreSQL `off`: other nodes would not find them"},
        ),
    ] = None
    refresh_models: Annotated[
        bool,
        Meta(
            description="Fetch windows and prices of models once a day, from GitHub; off: those "
            "that came with the server."
        ),
    ] = False
    allowed_hosts: Annotated[
        tuple[Annotated[str, Meta(pattern=WITHOUT_SPACES, title=NO_SPACES)], ...],
        Meta(description="Names that requests may ask for besides this machine's own addresses."),
    ] = ()
    allowed_origins: Annotated[
        tuple[Annotated[str, Meta(pattern=ORIGIN, title="an origin such as https://name")], ...],
        Meta(description="Web origins besides our own that may call, as `https://name`."),
    ] = ()
    limits: LimitSettings = msgspec.field(default_factory=LimitSettings)
    tools: ToolLimits = msgspec.field(default_factory=ToolLimits)
    search: SearchSettings = msgspec.field(default_factory=SearchSettings)
    embedded: EmbeddedSettings = msgspec.field(default_factory=EmbeddedSettings)
    log: LogSettings = msgspec.field(default_factory=LogSettings)
    providers: tuple[ProviderSettings, ...] = ()
    rules: tuple[Rule, ...] = ()
    """What tools may do; a workspace's own are nearer."""
    mcp: tuple[McpServer, ...] = ()
    config: Path | None = None
    """The file that was read; None: there was none."""
    fixed: dict[str, str] = msgspec.field(default_factory=dict)
    """Keys that a flag or a variable gave, and which: they cannot be changed while it runs."""

    @property
    def keys(self) -> tuple[Secret, ...]:
        """All that must never be shown, besides the token."""
        held = [provider.api_key for provider in self.providers if provider.api_key]
        headers = [value for provider in self.providers for value in provider.headers.values()]
        held += [one for one in (self.secret, self.search.api_key) if one]
        held += [
            Secret(word)
            for url in (self.database, self.database_direct)
            for word in _passwords(url)
        ]
        headers += [Secret(secret) for server in self.mcp for secret in server.secrets]
        return (*held, *(value for value in headers if len(value.reveal()) >= KEY_CHARACTERS))

    @property
    def is_shared(self) -> bool:
        """Whether other nodes may be on the same database."""
        return self.database.startswith(POSTGRES_URL)

    @property
    def sqlite_path(self) -> Path | None:
        """The database file; None when there is none."""
        if self.database == MEMORY_URL or self.is_shared:
            return None
        if self.database:
            return Path(self.database.removeprefix(SQLITE_URL))
        return self.data / SQLITE_FILE


def _passwords(url: str) -> tuple[str, ...]:
    """As it is spelt in the address, and as it is."""
    try:
        spelt = urlsplit(url).password
    except ValueError:
        return ()
    return (spelt, unquote(spelt)) if spelt else ()
