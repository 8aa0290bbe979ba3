"""Asks the survey program about a place in the workspace."""

import json
import os
from pathlib import Path

from anyio import to_thread

from tenuto.agent.tools.folder import locate, opened_file, opened_folder
from tenuto.agent.tools.helper import SURVEY, Task, ask
from tenuto.agent.tools.settings import ToolSettings
from tenuto.core.value import Value
from tenuto.ports.tool import Place, ToolFailed

IGNORE_BYTES = 65_536
"""Its text travels as an argument, which has a limit."""


class Survey(Value):
    path: str
    glob: str
    pattern: str | None = None
    """None: only the names."""


class Start(Value):
    descriptor: int
    prefix: str
    ignore: str


async def survey(asked: Survey, place: Place, settings: ToolSettings) -> str:
    """What was found, one line each, capped; empty if nothing was."""
    start = await to_thread.run_sync(_open, asked, place.folder)
    try:
        request = {
            "descriptor": start.descriptor,
            "prefix": start.prefix,
            "ignore": start.ignore,
            "glob": asked.glob.removeprefix("./"),
            "pattern": asked.pattern,
            "limit": settings.output_characters,
        }
        found = await ask(
            Task(
                program=SURVEY,
                request=json.dumps(request),
                inherited=(start.descriptor,),
                seconds=settings.search_seconds,
                characters=settings.output_characters,
            )
        )
    finally:
        os.close(start.descriptor)
    if found.whole:
        return found.text
    note = f"[stopped after {settings.search_seconds:g} seconds: there may be more. "
    return f"{found.text}\n{note}A simpler pattern or a narrower path takes less]".lstrip()


def _open(asked: Survey, folder: Path) -> Start:
    spot = locate(folder, asked.path)
    ignore = _ignore_rules(folder)
    names = os.path.join(spot.root, *spot.parts)
    if asked.pattern is not None and os.path.isfile(names):
        with opened_file(spot) as file:
            return Start(descriptor=os.dup(file), prefix=spot.shown, ignore=ignore)
    if os.path.lexists(names) and not os.path.isdir(names):
        raise ToolFailed(f"{spot.given} is not a folder.")
    prefix = f"{spot.shown}/" if spot.parts else ""
    with opened_folder(spot) as descriptor:
        return Start(descriptor=os.dup(descriptor), prefix=prefix, ignore=ignore)


def _ignore_rules(folder: Path) -> str:
    try:
        with opened_file(locate(folder, ".gitignore")) as file:
            return os.read(file, IGNORE_BYTES).decode("utf-8", "replace")
    except (OSError, ToolFailed):
        # No rules, or none that can be read: then only the usual folders are left out.
        return ""
