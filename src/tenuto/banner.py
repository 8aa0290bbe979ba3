"""What the server says when it is ready."""

import ipaddress
from urllib.parse import quote

from tenuto import __version__
from tenuto.config import Secret, Settings

ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}
"""An address that means all of them, and one that a browser can open."""


def base_url(host: str, port: int) -> str:
    """The address to open on this machine for a server that listens on `host` and `port`."""
    reachable = ANY_ADDRESS.get(host, host)
    return f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"


def banner(settings: Settings, url: str, token: Secret) -> str:
    """A few lines: where to go, where the data is, who answers, and what to be careful of."""
    lines = [
        f"Tenuto {__version__} is ready: {url}/login?token={quote(token.reveal(), safe='')}",
        f"Data folder: {settings.data}",
        f"Models: {_models(settings)}",
    ]
    if not is_loopback(settings.host):
        lines.append(
            f"WARNING: listening on {settings.host} without TLS: anyone on the way can read the "
            "token. Put a reverse proxy with TLS in front (docs/operations.md)."
        )
    lines.append("Stop with Ctrl-C: active runs get time to end, nothing is lost.")
    return "\n".join(lines)


def is_loopback(host: str) -> bool:
    """True if only this machine can reach that address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _models(settings: Settings) -> str:
    if settings.providers:
        return ", ".join(provider.name for provider in settings.providers)
    if settings.embedded.enabled:
        return "the embedded one, unless a local server is found; set OPENAI_API_KEY for others"
    return "none configured; set OPENAI_API_KEY or write tenuto.toml (docs/configuration.md)"
