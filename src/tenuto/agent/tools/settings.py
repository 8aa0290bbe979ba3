"""The limits that the built-in tools keep."""

from pathlib import Path

from tenuto.agent.tools.files.drafts import Drafts
from tenuto.agent.tools.files.witnesses import Witnesses
from tenuto.agent.tools.processes.sandbox import NO_SANDBOX, Sandbox
from tenuto.core.value import Value


class ToolSettings(Value):
    output_characters: int = 30_000
    """The most that one call gives back to the model."""
    shell_seconds: float = 120
    """How long a command may take if the call does not say."""
    shell_seconds_max: float = 600
    search_seconds: float = 20
    """How long listing, searching, and making text of a page may take."""
    fetch_seconds: float = 30
    """For the whole of a fetch, redirects included."""
    fetch_bytes: int = 5_000_000
    """The most that is read of one answer."""
    allow_private_addresses: bool = False
    """Whether `fetch_url` may reach this machine and the networks around it."""
    data: Path | None = None
    """The server's own folder, closed to file tools; None: there is none."""
    patience: int = 0
    """Seconds after which commands are ended if the server stands still; 0: they are not."""
    sandbox: Sandbox = NO_SANDBOX
    """What keeps commands in their workspace."""
    witnesses: Witnesses | None = None
    """Who sees what commands change; None: nobody."""
    drafts: Drafts = Drafts()
    """Where new files wait that are not in place yet."""
