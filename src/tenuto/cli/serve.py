"""`tenuto serve`: read the settings, then run the server until it is told to stop."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from tenuto.config import ConfigError, Setting, Settings, load, settings_table

BAD_SETTINGS = 2
"""The exit code when the settings cannot be used."""

CONFIG_HELP = "The settings file; else tenuto.toml in the data folder, else in this folder."
EPILOG = """Every option is also an environment variable and a key of tenuto.toml: --limits-steps
is TENUTO_LIMITS_STEPS and limits.steps. Model providers: docs/configuration.md."""


def command_from_table(body: Callable[..., None]) -> click.Command:
    """A command with one option per setting."""
    options = [click.Option(["--config"], metavar="PATH", help=CONFIG_HELP)]
    options += [_option(row) for row in settings_table()]
    return click.Command(
        "serve", callback=body, params=list(options), help=serve.__doc__, epilog=EPILOG
    )


def serve(**options: Any) -> None:
    """Start the server and print the address to open."""
    settings = _settings(options)
    # Everything heavy is behind this import; `--help` and a bad setting answer without it.
    from tenuto.wiring import serve as run

    raise SystemExit(run(settings))


def _settings(options: dict[str, Any]) -> Settings:
    keys = {_parameter(row): row.key for row in settings_table()} | {"config": "config"}
    flags = {keys[name]: _joined(given) for name, given in options.items()}
    try:
        return load(flags, os.environ, Path.cwd())
    except ConfigError as error:
        for line in error.lines:
            click.echo(f"tenuto: {line}", err=True)
        raise SystemExit(BAD_SETTINGS) from error


def _option(row: Setting) -> click.Option:
    # Click only carries the text: what is allowed is known, and said, in one place.
    return click.Option(
        [row.flag, _parameter(row)],
        multiple=row.many,
        metavar=row.key.rpartition(".")[2].upper(),
        help=f"{row.meaning.replace('`', '')} [default: {row.default.replace('`', '')}]",
    )


def _parameter(row: Setting) -> str:
    return row.key.replace(".", "_")


def _joined(given: str | tuple[str, ...] | None) -> str | None:
    if isinstance(given, tuple):
        return ",".join(given) or None
    return given


command = command_from_table(serve)
