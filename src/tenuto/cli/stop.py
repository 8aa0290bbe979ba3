"""`tenuto stop`: cancel a run, or all that a session does."""

from typing import Any

import click

from tenuto.cli.following import server_options, told


@click.command("stop")
@click.argument("what", required=False, metavar="[RUN or SESSION]")
@server_options
def command(**said: Any) -> None:
    """Cancel a run, or all runs of a session; what came is kept.

    Without an argument: the only one that runs.
    """

    def work() -> int:
        # Everything heavy is behind this import; `--help` answers without it.
        from tenuto.terminal.commands import stop

        return stop(said)

    told(work)
