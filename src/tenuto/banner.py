"""What the server says to whoever starts it."""

import logging
import sys
from urllib.parse import quote

import click

from tenuto import __version__
from tenuto.config import TOKEN_FILE, Secret, Settings
from tenuto.core.host import is_loopback

log = logging.getLogger(__name__)

BAR_WIDTH = 30
ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}
"""An address that means all of them, and one that a browser can open."""

FEWEST_CHARACTERS = 16
"""Of a token that nobody guesses; as long as only this machine can reach it, anything will do."""


def base_url(host: str, port: int) -> str:
    """The address to open on this machine for a server that listens on `host` and `port`."""
    reachable = ANY_ADDRESS.get(host, host)
    return f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"


def banner(settings: Settings, url: str, token: Secret | None, *, node: str = "") -> str:
    """A few lines: where to go, where the data is, who answers, and what to be careful of.

    Without the token it says where that is: what is not read by a person may be kept by a journal.
    """
    lines = [
        f"Tenuto {__version__} is ready: {url}{_way_in(token)}",
        *([] if token else [f"Token: {_kept(settings)}"]),
        f"Data folder: {settings.data}",
        *([f"Node: {node}, on PostgreSQL"] if settings.is_shared else []),
        f"Models: {_models(settings)}",
    ]
    if not is_loopback(settings.host):
        lines.append(
            f"WARNING: listening on {settings.host} without TLS: anyone on the way can read the "
            "token. Put a reverse proxy with TLS in front (docs/operations.md)."
        )
        if settings.token and len(settings.token.reveal()) < FEWEST_CHARACTERS:
            lines.append(
                f"WARNING: the token has fewer than {FEWEST_CHARACTERS} characters, and others can "
                "reach this server: leave it out, and a good one is made."
            )
    lines.append("Stop with Ctrl-C: active runs get time to end, nothing is lost.")
    return "\n".join(lines)


def _way_in(token: Secret | None) -> str:
    return f"/login?token={quote(token.reveal(), safe='')}" if token else ""


def _kept(settings: Settings) -> str:
    if settings.token is None:
        return f"in {settings.data / TOKEN_FILE}"
    return f"the one of {settings.fixed.get('token', 'the settings')}"


def _models(settings: Settings) -> str:
    if settings.providers:
        return ", ".join(provider.name for provider in settings.providers)
    if settings.embedded.enabled:
        return "the embedded one, unless a local server is found; set OPENAI_API_KEY for others"
    return "none configured; set OPENAI_API_KEY or write tenuto.toml (docs/configuration.md)"


class FetchBar:
    """Shows how far the embedded model's file is: a bar on a terminal, a line elsewhere."""

    def __init__(self) -> None:
        self._told = False

    def __call__(self, done: int, total: int) -> None:
        if self._told:
            return
        self._told = done >= total
        if sys.stderr.isatty():
            filled = BAR_WIDTH * done // max(total, 1)
            bar = "#" * filled + "." * (BAR_WIDTH - filled)
            line = f"\rFetching the embedded model [{bar}] {done >> 20}/{total >> 20} MiB"
            click.echo(line, nl=self._told, err=True)
        elif self._told:
            log.info("the embedded model was fetched", extra={"bytes": total})
