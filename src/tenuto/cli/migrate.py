"""`tenuto migrate`: everything to another database, while no server is on either."""

import asyncio
import re
from pathlib import Path

import click

from tenuto.config.settings import NODE
from tenuto.core.error import StorageTrouble

FAILED = 1
BAD_SETTINGS = 2
ADDRESSES = ("sqlite:///", "postgresql://", "postgres://")
HELP_FROM = "The database to move from: sqlite:///FILE or postgresql://…; it stays as it is."
HELP_TO = "An empty one to move to, or one into which the same move was broken off."
HELP_HOME = "To PostgreSQL: the name of the node that has the folders of workspaces."
HELP_WORKSPACES = "To SQLite: where the folders of shared workspaces are."


@click.command("migrate")
@click.option("--from", "source", required=True, metavar="URL", help=HELP_FROM)
@click.option("--to", "target", required=True, metavar="URL", help=HELP_TO)
@click.option("--home", metavar="NODE", help=HELP_HOME)
@click.option("--workspaces", metavar="DIR", help=HELP_WORKSPACES)
def command(source: str, target: str, home: str | None, workspaces: str | None) -> None:
    """Move everything to another database.

    Every session is compared in the end. If it is broken off, give the same command again. A
    password can also be in PGPASSWORD or ~/.pgpass.
    """
    _check(source, target, home)
    from tenuto.wiring.migration import migrate

    try:
        asyncio.run(
            migrate(
                source,
                target,
                home=home,
                workspaces=Path(workspaces) if workspaces else None,
                say=click.echo,
            )
        )
    except StorageTrouble as trouble:
        click.echo(f"tenuto: {trouble}", err=True)
        raise SystemExit(FAILED) from trouble
    click.echo("Moved. Start the server on the new database; the old one was not changed.")


def _check(source: str, target: str, home: str | None) -> None:

    wrong = [
        f"{flag}: must be sqlite:///FILE or postgresql://…"
        for flag, url in (("--from", source), ("--to", target))
        if not url.startswith(ADDRESSES)
    ]
    if target.startswith("postgres") and (home is None or not re.fullmatch(NODE, home)):
        wrong.append("--home: say which node has the folders of workspaces")
    for line in wrong:
        click.echo(f"tenuto: {line}", err=True)
    if wrong:
        raise SystemExit(BAD_SETTINGS)
