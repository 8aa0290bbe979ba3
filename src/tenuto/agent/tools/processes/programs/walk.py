"""Walks a folder and names its files, or their lines that match: a program of its own.

Standard library only. It runs as a process so that a folder without end or a pattern that takes
for ever can be stopped. Its one argument is the descriptor of a file with a `WalkRequest` as JSON. It
begins at a descriptor, never sees a path above that, and follows no link.
"""

import json
import os
import stat
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, NoReturn, TypedDict

if TYPE_CHECKING:
    from tenuto.agent.tools.processes.programs.globs import translated, understood
    from tenuto.agent.tools.processes.programs.ignoring import Ignoring
    from tenuto.agent.tools.processes.programs.listing import listed
    from tenuto.agent.tools.processes.programs.matching import BadPattern, Matcher
    from tenuto.agent.tools.processes.programs.sifting import Sieve, batches
else:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from globs import translated, understood
    from ignoring import Ignoring
    from listing import listed
    from matching import BadPattern, Matcher
    from sifting import Sieve, batches

SKIPPED = frozenset({".git", "node_modules", ".venv", "__pycache__"})
DEEPEST = 200
REFUSED = 3
NICENESS = 10
"""Whoever waits for an answer of the server comes first."""
MOST_LISTED = 200_000
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


class WalkRequest(TypedDict):
    descriptor: int
    prefix: str
    """The path of the beginning in the workspace, with a slash at its end; or a file's path."""
    ignore: list[list[str]]
    """Of each folder above the beginning: its path, as `prefix`, and the text of its .gitignore."""
    glob: str
    """Which files; relative to the beginning. Without a slash: by name, at any depth."""
    pattern: str | None
    """None: name the files."""
    context: int
    """Lines to show before and after each that matches."""
    names_only: bool
    """Name the files that have a line that matches."""
    closed: list[int] | None
    """The server's own folder, by device and inode: only `opening` is entered from there."""
    opening: list[int] | None
    ripgrep: str | None
    """Where that program is; None: do without."""
    limit: int
    seconds: float
    """After which a listing says what it has."""


class Report:
    """Lines up to a limit of characters; those beyond are only counted."""

    def __init__(self, limit: int) -> None:
        self._room = limit
        self._more = 0

    def add(self, line: str) -> None:
        self._room -= len(line) + 1
        if self._room < 0:
            self._more += 1
            return
        # At once: if we are stopped, what was found is there.
        say(line)

    def close(self, noun: str) -> None:
        if self._more:
            say(f"[{self._more:,} more {noun} left out: output is capped]")


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(request: WalkRequest) -> None:
    if request["pattern"] is None:
        return show(request)
    page = Report(request["limit"])
    try:
        matcher = Matcher(request["pattern"], request["context"], request["names_only"], page.add)
    except BadPattern as error:
        refuse(f"The pattern is not a regular expression: {error}.")
    noun = "files" if request["names_only"] else "lines"
    if stat.S_ISREG(os.fstat(request["descriptor"]).st_mode):
        matcher.look(os.dup(request["descriptor"]), request["prefix"])
        return page.close(noun)
    sieve = Sieve(request["ripgrep"], request["pattern"], request["descriptor"])
    start = len(request["prefix"])
    # A pipe would keep waiting whoever opens it.
    regular = (path for path, folder in files(request) if is_regular(path, folder))
    for batch in batches(regular):
        for path in sieve.sift(batch, start=start):
            descriptor = reached(path[start:], request["descriptor"])
            if descriptor is not None:
                matcher.look(descriptor, path)
    return page.close(noun)


def reached(path: str, folder: int) -> int | None:
    """A file, from the beginning on by names that are no links."""
    *names, last = path.split("/")
    way: list[int] = []
    try:
        for name in names:
            below = opened(name, FOLDER, way[-1] if way else folder)
            if below is None:
                return None
            way.append(below)
        return opened(last, FILE, way[-1] if way else folder)
    finally:
        for descriptor in way:
            os.close(descriptor)


def show(request: WalkRequest) -> None:
    """The names, as many levels deep as there is room for."""
    until = time.monotonic() + request["seconds"]
    paths: list[str] = []
    whole = True
    for path, _ in files(request):
        paths.append(path)
        whole = len(paths) < MOST_LISTED and time.monotonic() < until
        if not whole:
            break
    for line in listed(paths, start=len(request["prefix"]), limit=request["limit"]):
        say(line)
    if not whole:
        say(f"[there are more: the first {len(paths):,} files were looked at]")


def refuse(why: str) -> NoReturn:
    say(why)
    sys.exit(REFUSED)


def files(request: WalkRequest) -> Iterator[tuple[str, int]]:
    """Each file that is asked for, in order, with a descriptor of the folder that it is in."""
    glob = request["glob"]
    wanted = understood(translated(glob if "/" in glob else f"**/{glob}"))
    if wanted is None:
        refuse(f"The glob {glob} is too complicated.")
    rules: Ignoring | None = None
    for base, text in request["ignore"]:
        rules = Ignoring(rules, base, text)
    walker = Walker(request)
    start = len(request["prefix"])
    first = rules or Ignoring(None, "", "")
    for path, folder in walker.walk(request["descriptor"], request["prefix"], first):
        if wanted.fullmatch(path, start):
            yield path, folder


class Walker:
    """Goes through folders, but not into what is left out, nor into what is closed."""

    def __init__(self, request: WalkRequest) -> None:
        self._closed = request["closed"]
        self._opening = request["opening"]

    def walk(
        self, folder: int, prefix: str, above: Ignoring, depth: int = 0
    ) -> Iterator[tuple[str, int]]:
        closed = identity(folder) == self._closed
        rules = above if closed else above.below(folder, prefix)
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        for entry in entries:
            path = prefix + entry.name
            below = is_folder(entry)
            if entry.name in SKIPPED or rules.leaves_out(path, is_folder=below):
                continue
            if not below:
                if not closed:
                    yield path, folder
                continue
            descriptor = opened(entry.name, FOLDER, folder) if depth < DEEPEST else None
            if descriptor is not None:
                if not closed or identity(descriptor) == self._opening:
                    yield from self.walk(descriptor, path + "/", rules, depth + 1)
                os.close(descriptor)


def is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def identity(descriptor: int) -> list[int]:
    found = os.fstat(descriptor)
    return [found.st_dev, found.st_ino]


def is_regular(path: str, folder: int) -> bool:
    try:
        found = os.stat(os.path.basename(path), dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode)


def opened(name: str, flags: int, folder: int) -> int | None:
    """A descriptor, or None for what is gone, closed to us, a link, or no file that can be read."""
    if flags is FILE and not is_regular(name, folder):
        return None
    try:
        return os.open(name, flags, dir_fd=folder)
    except OSError:
        return None


if __name__ == "__main__":
    os.nice(NICENESS)
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    with open(int(sys.argv[1]), "rb", closefd=False) as file:
        file.seek(0)
        main(json.load(file))
