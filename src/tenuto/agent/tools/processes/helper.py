"""Helpers: programs of ours that may take for ever, each in a process that can be stopped."""

import codecs
import json
import logging
import os
import tempfile
from pathlib import Path
from typing import IO, Any

from tenuto.agent.tools.output import Scroll
from tenuto.agent.tools.processes.tree import PYTHON, Command, Lost, run
from tenuto.core.value import Value
from tenuto.ports.tool import ToolFailed

log = logging.getLogger(__name__)

PROGRAMS = Path(__file__).with_name("programs")
SURVEY = PROGRAMS / "walk.py"
PAGE = PROGRAMS / "html_to_text.py"
PDF_TEXT = PROGRAMS / "pdf_to_text.py"
REFUSED = 3
"""The exit code of a program that says what is wrong with its request."""


class HelperTask(Value):
    program: Path
    request: dict[str, Any]
    inherited: tuple[int, ...]
    seconds: float
    characters: int


class Found(Value):
    text: str
    whole: bool
    """False: time was up, and this is what it had by then."""


async def ask(task: HelperTask) -> Found:
    """What the program answers. It knows no secret, and its trouble is not shown to the model."""
    # Programs keep their own limit; this one only bounds memory if one does not.
    scroll = Scroll(task.characters * 2 + 10_000)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    # Not as an argument: those have a limit, and a request can hold a whole .gitignore.
    with held(json.dumps(task.request).encode()) as request:
        command = Command(
            arguments=(*PYTHON, str(task.program), str(request.fileno())),
            environment={},
            seconds=task.seconds,
            inherited=(request.fileno(), *task.inherited),
        )
        try:
            ended = await run(command, lambda data: scroll.add(decoder.decode(data)))
        except Lost:
            raise _trouble(task, "its runner was killed") from None
    scroll.add(decoder.decode(b"", final=True))
    if ended.status == REFUSED:
        raise ToolFailed(scroll.text().strip())
    if ended.status not in (0, None):
        raise _trouble(task, scroll.text())
    return Found(text=scroll.text().rstrip("\n"), whole=ended.status == 0)


def held(content: bytes) -> IO[bytes]:
    """A file without a name that holds this, for a program to inherit; in memory where it can."""
    if hasattr(os, "memfd_create"):
        file: IO[bytes] = open(os.memfd_create("held"), "w+b")  # noqa: SIM115
    else:
        file = tempfile.TemporaryFile()  # noqa: SIM115
    file.write(content)
    file.flush()
    return file


def _trouble(task: HelperTask, said: str) -> ToolFailed:
    log.error("a helper failed", extra={"program": task.program.name, "said": said})
    return ToolFailed("It could not be done: a program of the server failed.")
