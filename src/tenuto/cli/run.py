"""`tenuto run`: one prompt; the answer on standard output, all else on standard error."""

from typing import Any

import click

from tenuto.cli.following import following_options, server_options, told

EPILOG = """Exit codes: 0 done, 1 failed, 2 wrong usage, 3 cut short, 4 it needed a person, 5
interrupted, 6 no server or lost, 130 and 143 cancelled. Ctrl-C cancels the run and keeps what
came; again leaves at once."""


@click.command("run", epilog=EPILOG)
@click.argument("words", nargs=-1, metavar="[PROMPT]…")
@click.option("-m", "--model", metavar="MODEL", help="As provider/model.")
@click.option("-s", "--session", metavar="ID", help="Go on in this session.")
@click.option("-c", "--continue", "continue_last", is_flag=True, help="Go on in the last session.")
@click.option("-w", "--workspace", metavar="NAME", help="Its name, id or folder.")
@click.option("--mode", type=click.Choice(["chat", "agent"]), help="Without or with tools.")
@click.option("--effort", type=click.Choice(["none", "low", "medium", "high", "max"]))
@click.option(
    "-f", "--file", "files", multiple=True, metavar="PATH", help="Attach; again for more."
)
@click.option("--system", metavar="TEXT", help="The system prompt of a new session.")
@click.option("--title", metavar="TEXT", help="The title of a new session.")
@click.option("--when-busy", type=click.Choice(["queue", "steer", "interrupt", "reject"]))
@click.option("--detach", is_flag=True, help="Print the run's id and leave it to the server.")
@click.option("--no-stdin", is_flag=True, help="Leave standard input alone.")
@following_options
@server_options
def command(**said: Any) -> None:
    """Send one prompt and print the answer."""

    def work() -> int:
        # Everything heavy is behind this import; `--help` answers without it.
        from tenuto.terminal.commands import run

        return run(said)

    told(work)
