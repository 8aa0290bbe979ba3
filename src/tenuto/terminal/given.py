"""What standard input gives to a prompt."""

import os
import select
import sys

from tenuto.terminal.exits import ExitCode, Leave
from tenuto.terminal.options import RunOptions
from tenuto.terminal.out import note

STDIN = 0
SAY_AFTER_SECONDS = 2.0
LEAVE_AFTER_SECONDS = 30.0


def prompt_texts(options: RunOptions) -> list[str]:
    """The prompt, and what was piped in beside it; a terminal is never read."""
    said = " ".join(options.words).strip()
    is_piped = not options.no_stdin and _is_open() and not os.isatty(STDIN)
    if said and said != "-":
        texts = [said, *([_read_beside()] if is_piped else [])]
    elif is_piped:
        texts = [_read()]
    else:
        raise Leave(ExitCode.USAGE, "no prompt: give it as words, or on standard input")
    found = [text for text in texts if text.strip()]
    if not found:
        raise Leave(ExitCode.USAGE, "the prompt is empty")
    return found


def _is_open() -> bool:
    try:
        os.fstat(STDIN)
    except OSError:
        return False
    return sys.stdin is not None


def _read_beside() -> str:
    if not select.select([STDIN], [], [], SAY_AFTER_SECONDS)[0]:
        note("waiting for standard input; --no-stdin leaves it alone")
        if not select.select([STDIN], [], [], LEAVE_AFTER_SECONDS - SAY_AFTER_SECONDS)[0]:
            raise Leave(
                ExitCode.USAGE, "nothing came on standard input; --no-stdin leaves it alone"
            )
    return _read()


def _read() -> str:
    pieces = []
    while piece := os.read(STDIN, 1 << 16):
        pieces.append(piece)
    try:
        return b"".join(pieces).decode()
    except UnicodeDecodeError as error:
        raise Leave(ExitCode.USAGE, "standard input is no text: give files with --file") from error
