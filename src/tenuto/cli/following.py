"""What the commands that follow runs have in common: their options, and the way to their end."""

import signal
import sys
from collections.abc import Callable
from typing import NoReturn

import click

Body = Callable[..., None]
TERMINATED = 143
CANCELLED = 130
ON_ASK = "When the run asks for something. [default: ask on a terminal, else deny]"
PATIENCE = "How long a lost server is waited for. [default: 300]"

VIEW = (
    click.option("-o", "--output", type=click.Choice(["text", "json", "jsonl"]), default="text"),
    click.option("--last-message", metavar="FILE", help="Write the last text there too."),
    click.option("-x", "--extract", is_flag=True, help="Print the first code block only."),
    click.option("--reasoning", is_flag=True, help="Show the reasoning, on standard error."),
    click.option("-q", "--quiet", is_flag=True, help="Say nothing on the way."),
    click.option("--on-ask", type=click.Choice(["deny", "wait", "leave", "allow"]), help=ON_ASK),
    click.option("--timeout", type=click.FloatRange(min=0), metavar="S", help="Then cancel."),
    click.option(
        "--patience", type=click.FloatRange(min=0), default=300.0, metavar="S", help=PATIENCE
    ),
)
SERVER = (
    click.option("--url", metavar="URL", help="Of the server; also TENUTO_URL."),
    click.option("--key", metavar="TOKEN", help="Of the server; better in TENUTO_KEY."),
)


def following_options(body: Body) -> Body:
    """How a run is shown, and what it may ask."""
    return _with(VIEW, body)


def server_options(body: Body) -> Body:
    return _with(SERVER, body)


def _with(options: tuple[Callable[[Body], Body], ...], body: Body) -> Body:
    for option in reversed(options):
        body = option(body)
    return body


def told(work: Callable[[], int]) -> NoReturn:
    """Do it, and end the process with the code that tells what came of it."""
    # Until something is sent a signal just ends us, with the code that says so.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    try:
        code = work()
    except KeyboardInterrupt:
        code = CANCELLED
    sys.exit(code)
