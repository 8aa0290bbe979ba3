"""Walks a folder and names its files, or their lines that match: a program of its own.

Standard library only. It runs as a process so that a folder without end or a pattern that takes
for ever can be stopped. Its one argument is the descriptor of a file with a `WalkRequest` as JSON. It
begins at a descriptor, never sees a path above that, and follows no link.
"""

import json
import os
import re
import stat
import sys
from collections.abc import Iterator
from typing import NoReturn, TypedDict

SKIPPED = frozenset({".git", "node_modules", ".venv", "__pycache__"})
DEEPEST = 200
REFUSED = 3
NICENESS = 10
"""Whoever waits for an answer of the server comes first."""
LOOK_BYTES = 8192
LINE_BYTES = 1 << 20
SHOWN_CHARACTERS = 400
NOTHING = r"(?!)"
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


class WalkRequest(TypedDict):
    descriptor: int
    prefix: str
    """The path of the beginning in the workspace, with a slash at its end; or a file's path."""
    ignore: str
    """The text of the workspace's .gitignore."""
    glob: str
    """Which files; relative to the beginning. Without a slash: by name, at any depth."""
    pattern: str | None
    """None: name the files."""
    closed: list[int] | None
    """The server's own folder, by device and inode: only `opening` is entered from there."""
    opening: list[int] | None
    limit: int


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
    page = Report(request["limit"])
    if request["pattern"] is None:
        for path, _ in files(request):
            page.add(path)
        return page.close("files")
    pattern = compiled(request["pattern"])
    if stat.S_ISREG(os.fstat(request["descriptor"]).st_mode):
        search(os.dup(request["descriptor"]), request["prefix"], pattern, page)
        return page.close("lines")
    for path, folder in files(request):
        descriptor = opened(os.path.basename(path), FILE, folder)
        if descriptor is not None:
            search(descriptor, path, pattern, page)
    return page.close("lines")


def compiled(pattern: str) -> "re.Pattern[str]":
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        refuse(f"The pattern is not a regular expression: {error}.")


def refuse(why: str) -> NoReturn:
    say(why)
    sys.exit(REFUSED)


def files(request: WalkRequest) -> Iterator[tuple[str, int]]:
    """Each file that is asked for, in order, with a descriptor of the folder that it is in."""
    glob = request["glob"]
    wanted = understood(translated(glob if "/" in glob else f"**/{glob}"))
    if wanted is None:
        refuse(f"The glob {glob} is too complicated.")
    walker = Walker(request)
    start = len(request["prefix"])
    for path, folder in walker.walk(request["descriptor"], request["prefix"]):
        if wanted.fullmatch(path, start):
            yield path, folder


class Walker:
    """Goes through folders, but not into what is left out, nor into what is closed."""

    def __init__(self, request: WalkRequest) -> None:
        self._ignored = rules(request["ignore"])
        self._closed = request["closed"]
        self._opening = request["opening"]

    def walk(self, folder: int, prefix: str, depth: int = 0) -> Iterator[tuple[str, int]]:
        closed = identity(folder) == self._closed
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        for entry in entries:
            path = prefix + entry.name
            below = is_folder(entry)
            if entry.name in SKIPPED or self._ignored.fullmatch(path + "/" if below else path):
                continue
            if not below:
                if not closed:
                    yield path, folder
                continue
            descriptor = opened(entry.name, FOLDER, folder) if depth < DEEPEST else None
            if descriptor is not None:
                if not closed or identity(descriptor) == self._opening:
                    yield from self.walk(descriptor, path + "/", depth + 1)
                os.close(descriptor)


def is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def identity(descriptor: int) -> list[int]:
    found = os.fstat(descriptor)
    return [found.st_dev, found.st_ino]


def opened(name: str, flags: int, folder: int) -> int | None:
    """A descriptor, or None for what is gone, closed to us, a link, or no file that can be read."""
    try:
        if flags is FILE and not stat.S_ISREG(
            os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        ):
            return None
        return os.open(name, flags, dir_fd=folder)
    except OSError:
        return None


def search(descriptor: int, path: str, pattern: "re.Pattern[str]", page: Report) -> None:
    with open(descriptor, "rb") as file:
        if b"\0" in file.peek(LOOK_BYTES)[:LOOK_BYTES]:
            return
        number, begins = 1, True
        while line := file.readline(LINE_BYTES):
            text = line.decode("utf-8", "replace").rstrip("\r\n")
            if begins and (match := pattern.search(text)):
                page.add(f"{path}:{number}: {excerpt(text, match.start())}")
            # A line over the limit is looked at in its first piece only.
            begins = line.endswith(b"\n")
            number += begins


def excerpt(text: str, at: int) -> str:
    if len(text) <= SHOWN_CHARACTERS:
        return text
    first = max(0, at - SHOWN_CHARACTERS // 4)
    return f"…{text[first : first + SHOWN_CHARACTERS]}…"


def rules(ignore: str) -> "re.Pattern[str]":
    """What .gitignore leaves out, as one pattern; nothing if it takes something back with `!`."""
    lines = [line.rstrip() for line in ignore.splitlines()]
    kept = [line for line in lines if line and not line.startswith("#")]
    if any(line.startswith("!") for line in kept):
        kept = []
    # A line that makes no sense leaves nothing out; the others count.
    good = [body for body in map(rule, kept) if understood(body)]
    return understood("|".join(good) or NOTHING) or re.compile(NOTHING)


def understood(pattern: str) -> "re.Pattern[str] | None":
    try:
        return re.compile(pattern, re.DOTALL)
    except (re.error, OverflowError, RecursionError):
        return None


def rule(line: str) -> str:
    anchored = "/" in line.rstrip("/")
    body = translated(line.strip("/") if anchored else f"**/{line.rstrip('/')}")
    return f"(?:{body})/" if line.endswith("/") else f"(?:{body})/?"


def translated(glob: str) -> str:
    """A glob with ** and {a,b} as a regular expression."""
    out, at, depth = "", 0, 0
    while at < len(glob):
        rest = glob[at:]
        step = 1
        if rest.startswith("**/"):
            out, step = out + r"(?:[^/]+/)*", 3
        elif rest.startswith("**"):
            out, step = out + ".*", 2
        elif rest[0] in "*?":
            out += "[^/]*" if rest[0] == "*" else "[^/]"
        elif found := re.match(r"\[([!^]?)(\]?[^\]/]+)\]", rest):
            out, step = out + members(*found.groups()), found.end()
        elif rest[0] == "{" and "}" in rest:
            out, depth = out + "(?:", depth + 1
        elif rest[0] in ",}" and depth:
            out += "|" if rest[0] == "," else ")"
            depth -= rest[0] == "}"
        else:
            out += re.escape(rest[0])
        at += step
    return out + ")" * depth


def members(negated: str, letters: str) -> str:
    """A set of letters as a regular expression; one like [z-a] has none."""
    letters = "".join(c if c.isalnum() or c == "-" else re.escape(c) for c in letters)
    found = f"[^/{letters}]" if negated else f"[{letters}]"
    return found if understood(found) else NOTHING


if __name__ == "__main__":
    os.nice(NICENESS)
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    with open(int(sys.argv[1]), "rb", closefd=False) as file:
        file.seek(0)
        main(json.load(file))
