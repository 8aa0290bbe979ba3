"""`tenuto attach`: follow what runs now, from anywhere."""

from typing import Any

import click

from tenuto.cli.following import following_options, server_options, told


@click.command("attach")
@click.argument("what", required=False, metavar="[RUN or SESSION]")
@click.option("--after", type=click.IntRange(min=0), metavar="SEQ", help="Only what comes after.")
@following_options
@server_options
def command(**said: Any) -> None:
    """Follow a run to its end; the exit codes are those of `tenuto run`.

    Without an argument: the only one that runs. Ctrl-C cancels the run.
    """

    def work() -> int:
        # Everything heavy is behind this import; `--help` answers without it.
        from tenuto.terminal.commands import attach

        return attach(said)

    told(work)
