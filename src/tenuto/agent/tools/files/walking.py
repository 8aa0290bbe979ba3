"""Asks the survey program about a place in the workspace."""

import os
import shutil
from collections.abc import Callable, Sequence

from tenuto.agent.tools.files.errand import Errand, Threads
from tenuto.agent.tools.files.folder import Spot, opened_file, opened_folder
from tenuto.agent.tools.files.vault import Vault
from tenuto.agent.tools.processes.helper import SURVEY, Found, HelperTask, ask, held
from tenuto.agent.tools.settings import ToolSettings
from tenuto.core.value import Value
from tenuto.ports.tool import ToolFailed

IGNORE_BYTES = 256_000
IGNORE = ".gitignore"
PROGRAMS = "/usr/local/bin:/usr/bin:/bin"
LISTING_SHARE = 0.8
"""Of the time: then a listing says what it has."""

Find = Callable[[str], Spot]


class Survey(Value):
    path: str
    glob: str
    pattern: str | None = None
    """None: only the names."""
    context: int = 0
    names_only: bool = False


class Start:
    """Where to begin. Its descriptor is open until it is closed, whoever was cancelled meanwhile."""

    descriptor: int | None = None
    prefix = ""
    ignore: Sequence[tuple[str, str]] = ()
    """Of each folder above it: its path, and the text of its .gitignore."""
    vault = Vault()

    def close(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)


async def survey(asked: Survey, find: Find, threads: Threads, settings: ToolSettings) -> str:
    """What was found, one line each, capped; empty if nothing was."""
    start = Start()
    try:
        await threads.run(lambda errand: _open(start, asked, find, errand))
        return _said(await ask(_task(start, asked, settings)), settings)
    finally:
        start.close()


async def look_through(content: bytes, asked: Survey, settings: ToolSettings) -> str:
    """The same in a text that is no file of the workspace."""
    start = Start()
    with held(content) as file:
        file.seek(0)
        start.descriptor, start.prefix = file.fileno(), asked.path
        return _said(await ask(_task(start, asked, settings)), settings)


def _said(found: Found, settings: ToolSettings) -> str:
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
            "context": asked.context,
            "names_only": asked.names_only,
            "closed": start.vault.folder,
            "opening": start.vault.opening,
            "ripgrep": shutil.which("rg", path=PROGRAMS),
            "limit": settings.output_characters,
            "seconds": settings.search_seconds * LISTING_SHARE,
        },
        inherited=(start.descriptor,),
        seconds=settings.search_seconds,
        characters=settings.output_characters,
    )


def _open(start: Start, asked: Survey, find: Find, errand: Errand) -> None:
    spot = find(asked.path)
    start.vault = spot.vault
    start.ignore = [_rules(find, spot.parts[:n]) for n in range(len(spot.parts))]
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


def _rules(find: Find, parts: Sequence[str]) -> tuple[str, str]:
    base = "".join(f"{part}/" for part in parts)
    try:
        with opened_file(find(f"{base}{IGNORE}")) as file:
            return base, os.read(file, IGNORE_BYTES).decode("utf-8", "replace")
    except (OSError, ToolFailed):
        # No rules, or none that can be read: then nothing more is left out.
        return base, ""
