"""Helpers: programs of ours that may take for ever, each in a process that can be stopped."""

import logging
from pathlib import Path

from tenuto.agent.tools.leash import PYTHON, Command, run
from tenuto.agent.tools.output import Scroll
from tenuto.core.value import Value
from tenuto.ports.tool import ToolFailed

log = logging.getLogger(__name__)

SURVEY = Path(__file__).with_name("survey.py")
PAGE = Path(__file__).with_name("page.py")
REFUSED = 3
"""The exit code of a program that says what is wrong with its request."""


class Task(Value):
    program: Path
    request: str
    inherited: tuple[int, ...]
    seconds: float
    characters: int


class Found(Value):
    text: str
    whole: bool
    """False: time was up, and this is what it had by then."""


async def ask(task: Task) -> Found:
    """What the program answers. It knows no secret, and its trouble is not shown to the model."""
    command = Command(
        arguments=(*PYTHON, str(task.program), task.request),
        environment={},
        seconds=task.seconds,
        inherited=task.inherited,
    )
    # Programs keep their own limit; this one only bounds memory if one does not.
    scroll = Scroll(task.characters * 2 + 10_000)
    ended = await run(command, scroll.hear)
    scroll.close()
    if ended.status == REFUSED:
        raise ToolFailed(scroll.text().strip())
    if ended.status not in (0, None):
        log.error("a helper failed", extra={"program": task.program.name, "said": scroll.text()})
        raise ToolFailed("It could not be done: a program of the server failed.")
    return Found(text=scroll.text().rstrip("\n"), whole=ended.status == 0)
