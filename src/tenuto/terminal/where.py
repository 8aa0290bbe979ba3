"""Which server a command speaks to."""

from collections.abc import Mapping
from pathlib import Path

from tenuto.config import TOKEN_FILE, ConfigError, Settings, load, running_server
from tenuto.core.value import Value
from tenuto.terminal.exits import ExitCode, Leave


class ServerAddress(Value):
    url: str
    key: str


def find_server(
    url: str | None, key: str | None, environ: Mapping[str, str], cwd: Path
) -> ServerAddress:
    """What is said by flags, then by variables; else the server that runs on the data folder."""
    url = url or environ.get("TENUTO_URL")
    key = key or environ.get("TENUTO_KEY")
    if url:
        # A key that was not meant for this address is never sent to it.
        if not key:
            raise Leave(ExitCode.USAGE, "TENUTO_KEY or --key: say the token of that server")
        if not url.startswith(("http://", "https://")):
            raise Leave(ExitCode.USAGE, f"--url: {url} is no address such as http://127.0.0.1:8080")
        return ServerAddress(url=url, key=key)
    settings = _settings(environ, cwd)
    server = running_server(settings.data)
    if server is None:
        raise Leave(
            ExitCode.NO_SERVER,
            f"no server runs on {settings.data}. Start one with `tenuto serve`, "
            "or say where one is with --url and --key.",
        )
    return ServerAddress(url=server.url, key=key or _kept_key(settings))


def _settings(environ: Mapping[str, str], cwd: Path) -> Settings:
    try:
        return load({}, environ, cwd)
    except ConfigError as error:
        raise Leave(ExitCode.USAGE, "; ".join(error.lines)) from error


def _kept_key(settings: Settings) -> str:
    if settings.token:
        return settings.token.reveal()
    try:
        return (settings.data / TOKEN_FILE).read_text().strip()
    except OSError as error:
        raise Leave(
            ExitCode.NO_SERVER, f"no token in {settings.data}: give the server's with --key"
        ) from error
