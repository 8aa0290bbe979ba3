"""The text of PDFs, for models that do not read them themselves."""

from collections import OrderedDict
from importlib.util import find_spec
from pathlib import Path

from tenuto.agent.tools.processes.helper import PDF_TEXT, HelperTask, ask, held
from tenuto.ports.tool import ToolFailed

PAGES = 500
CHARACTERS = 64 * 1024
SECONDS = 20.0
KEPT = 64
"""Texts: a session asks for its own in every step."""
NOT_READ = "[Its text cannot be read: it is broken or protected.]"
NO_TEXT = "[It has no text: its pages are pictures.]"
TOO_SLOW = "[The rest took too long to read.]"


class Pdfs:
    """Reads each in a process that can be stopped, and once: all that is kept is text."""

    def __init__(self) -> None:
        self._texts: OrderedDict[int, str] = OrderedDict()
        """By the hash of what they are the text of."""

    async def text(self, content: bytes) -> str:
        """What it says, or why it does not."""
        key = hash(content)
        if key not in self._texts:
            self._texts[key] = await _read(content)
        self._texts.move_to_end(key)
        while len(self._texts) > KEPT:
            self._texts.popitem(last=False)
        return self._texts[key]


async def _read(content: bytes) -> str:
    with held(content) as file:
        request = {
            "descriptor": file.fileno(),
            "library": _library(),
            "pages": PAGES,
            "limit": CHARACTERS,
        }
        task = HelperTask(
            program=PDF_TEXT,
            request=request,
            inherited=(file.fileno(),),
            seconds=SECONDS,
            characters=CHARACTERS,
        )
        try:
            found = await ask(task)
        except ToolFailed:
            return NOT_READ
    if not found.whole:
        return f"{found.text}\n{TOO_SLOW}".strip()
    said = [line for line in found.text.splitlines() if not line.startswith("[Page ")]
    return found.text if any(line.strip() for line in said) else NO_TEXT


def _library() -> str:
    spec = find_spec("pypdf")
    assert spec is not None and spec.origin is not None
    return str(Path(spec.origin).parents[1])
