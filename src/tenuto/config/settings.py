"""Every setting: its name, type, range, default and meaning, said once.

The command line, the environment, `tenuto.toml`, `--help` and `docs/configuration.md` are all
read off these annotations (see `table.py`).
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from tenuto.config.provider import WITHOUT_SPACES, ProviderSettings
from tenuto.config.secret import Secret
from tenuto.core.value import Value

MIB = 1024 * 1024
KEY_CHARACTERS = 16
"""A header's text below this length is no key, and hiding it would make logs unreadable."""

SQLITE_FILE = "tenuto.sqlite3"
SQLITE_URL = "sqlite:///"
MEMORY_URL = "memory:"
NO_SPACES = "a text without spaces"
DATABASE = r"^(sqlite:///.+|memory:|postgres(ql)?://.*)$"
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


class LimitSettings(Value):
    max_body_bytes: Annotated[int, Meta(ge=1024, description="Largest JSON request body.")] = (
        10 * MIB
    )
    max_file_bytes: Annotated[int, Meta(ge=1024, description="Largest uploaded file.")] = 25 * MIB
    steps: Annotated[int, Meta(ge=1, description="Model requests that one run may make.")] = 50
    run_seconds: Annotated[float, Meta(gt=0, description="How long one run may take.")] = 3600
    stall_seconds: Annotated[
        float,
        Meta(gt=0, description="How long a provider may stay silent; a slow first token counts."),
    ] = 600
    connect_seconds: Annotated[
        float, Meta(gt=0, description="How long connecting to a provider may take.")
    ] = 30
    retry_seconds: Annotated[
        float,
        Meta(ge=0, description="The longest wait that a provider may ask for before a run fails."),
    ] = 300
    cost_usd: Annotated[
        float, Meta(ge=0, description="What one run may cost in US dollars; 0: no limit.")
    ] = 0
    loop_repeats: Annotated[
        int, Meta(ge=2, description="The same tool call with the same result ends a run.")
    ] = 4
    run_characters: Annotated[
        int, Meta(ge=1000, description="Characters that one run may store; then it ends.")
    ] = 16_000_000
    calls: Annotated[
        int, Meta(ge=1, le=1024, description="Tool calls that one answer of a model may make.")
    ] = 128
    head_seconds: Annotated[
        float, Meta(gt=0, description="How long a client may take for the head of a request.")
    ] = 10
    body_seconds: Annotated[
        float, Meta(gt=0, description="How long a client may stay silent in the middle of a body.")
    ] = 30
    unknown_connections: Annotated[
        int, Meta(ge=1, description="Connections without a token; a new one closes the oldest.")
    ] = 256
    wrong_tokens: Annotated[
        int, Meta(ge=1, description="Wrong tokens in a minute until an address has to wait.")
    ] = 30
    fold_deltas_days: Annotated[
        float,
        Meta(ge=0, description="After this many days a finished part's deltas become one event."),
    ] = 30


class Tools(Value):
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
            title=f"`sqlite:///FILE` or `{MEMORY_URL}`",
            description="`sqlite:///FILE` (`sqlite:////FILE` from the root) or `memory:`.",
            extra={"default": "one SQLite file in the data folder"},
        ),
    ] = ""
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
        bool, Meta(description="Look for model servers on the usual local ports.")
    ] = True
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
    tools: Tools = msgspec.field(default_factory=Tools)
    embedded: EmbeddedSettings = msgspec.field(default_factory=EmbeddedSettings)
    log: LogSettings = msgspec.field(default_factory=LogSettings)
    providers: tuple[ProviderSettings, ...] = ()
    fixed: dict[str, str] = msgspec.field(default_factory=dict)
    """Keys that a flag or a variable gave, and which: they cannot be changed while it runs."""

    @property
    def keys(self) -> tuple[Secret, ...]:
        """All that must never be shown, besides the token."""
        held = [provider.api_key for provider in self.providers if provider.api_key]
        headers = [value for provider in self.providers for value in provider.headers.values()]
        return (*held, *(value for value in headers if len(value.reveal()) >= KEY_CHARACTERS))

    @property
    def sqlite_path(self) -> Path | None:
        """The database file; None when everything is kept in memory only."""
        if self.database == MEMORY_URL:
            return None
        if self.database:
            return Path(self.database.removeprefix(SQLITE_URL))
        return self.data / SQLITE_FILE
