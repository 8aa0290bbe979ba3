"""The command `tenuto`. Each command's module is loaded only when it is asked for."""

import importlib

import click

from tenuto import __version__

COMMANDS = {
    "run": "Send one prompt and print the answer.",
    "attach": "Follow a run to its end.",
    "stop": "Cancel a run, or all that a session does.",
    "serve": "Start the server.",
    "migrate": "Move everything to another database.",
}
"""Name and one line of help; `serve` is `command` in `cli/serve.py`."""


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"tenuto.cli.{cmd_name}")
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tenuto")
def main() -> None:
    """Tenuto: an agent and chat server in which a run belongs to the server."""
