"""Asks the survey program about a place in the workspace."""

import os
from collections.abc import Callable

from tenuto.agent.tools.files.errand import Errand, Threads
from tenuto.agent.tools.files.folder import Spot, opened_file, opened_folder
from tenuto.agent.tools.processes.helper import SURVEY, HelperTask, ask
from tenuto.agent.tools.settings import ToolSettings
from tenuto.core.value import Value
from tenuto.ports.tool import ToolFailed

IGNORE_BYTES = 256_000
IGNORE = ".gitignore"

Find = Callable[[str], Spot]


class Survey(Value):
    path: str
    glob: str
    pattern: str | None = None
    """None: only the names."""


class Start:
    """Where to begin. Its descriptor is open until it is closed, whoever was cancelled meanwhile."""

    descriptor: int | None = None
    prefix = ""
    ignore = ""
    spot: Spot

    def close(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)


async def survey(asked: Survey, find: Find, threads: Threads, settings: ToolSettings) -> str:
    """What was found, one line each, capped; empty if nothing was."""
    start = Start()
    try:
        await threads.run(lambda errand: _open(start, asked, find, errand))
        found = await ask(_task(start, asked, settings))
    finally:
        start.close()
    if found.whole:
        return found.text
    note = f"[stopped after {settings.search_seconds:g} seconds: there may be more. "
    return f"{found.text}\n{note}A simpler pattern or a narrower path takes less]".lstrip()


def _task(start: Start, asked: Survey, settings: ToolSettings) -> HelperTask:
    assert start.descriptor is not None
    return HelperTask(
        program=SURVEY,
        request={
            "descriptor": start.descriptor,
            "prefix": start.prefix,
            "ignore": start.ignore,
            "glob": asked.glob.removeprefix("./"),
            "pattern": asked.pattern,
            "closed": start.spot.vault.folder,
            "opening": start.spot.vault.opening,
            "limit": settings.output_characters,
        },
        inherited=(start.descriptor,),
        seconds=settings.search_seconds,
        characters=settings.output_characters,
    )


def _open(start: Start, asked: Survey, find: Find, errand: Errand) -> None:
    spot = start.spot = find(asked.path)
    start.ignore = _ignore_rules(find)
    names = os.path.join(spot.root, *spot.parts)
    if asked.pattern is not None and os.path.isfile(names):
        start.prefix = spot.shown
        with opened_file(spot) as file:
            return _keep(start, file, errand)
    if os.path.lexists(names) and not os.path.isdir(names):
        raise ToolFailed(f"{spot.given} is not a folder.")
    start.prefix = f"{spot.shown}/" if spot.parts else ""
    with opened_folder(spot) as folder:
        return _keep(start, folder, errand)


def _keep(start: Start, descriptor: int, errand: Errand) -> None:
    # If the call was cancelled, nobody is left to close it.
    errand.claim()
    start.descriptor = os.dup(descriptor)


def _ignore_rules(find: Find) -> str:
    try:
        with opened_file(find(IGNORE)) as file:
            return os.read(file, IGNORE_BYTES).decode("utf-8", "replace")
    except (OSError, ToolFailed):
        # No rules, or none that can be read: then only the usual folders are left out.
        return ""
