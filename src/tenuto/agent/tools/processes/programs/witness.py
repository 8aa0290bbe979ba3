"""Watches a folder for what commands change in it: a program of its own.

Standard library only. Its one argument is JSON: the folder, and what is closed in it. Each line that
comes in asks for a look, and is answered by one line: `{"since": N}` for what changed since look N,
with `"until": M` only for what look M found and those before it.
What commands may replace is copied at a look, within bounds, or known to git. It follows no link,
and ends when nobody is there to ask.
"""

import base64
import hashlib
import json
import os
import stat
import sys
import tempfile
import time
from typing import IO, TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tenuto.agent.tools.processes.programs.git_objects import Index, content_of
    from tenuto.agent.tools.processes.programs.ignoring import Ignoring
    from tenuto.agent.tools.processes.programs.walk import DEEPEST, FOLDER, SKIPPED, identity
else:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from git_objects import Index, content_of
    from ignoring import Ignoring
    from walk import DEEPEST, FOLDER, SKIPPED, identity

MOST_FILES = 20_000
LOOK_SECONDS = 2.0
COPY_SECONDS = 1.0
FILE_BYTES = 1_000_000
ALL_BYTES = 50_000_000
TOLD = 1_000
"""Changes of one look that are told."""
TOLD_BYTES = 20_000_000
DIGEST_BYTES = 200_000_000
PERMISSIONS = 0o7777
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK

Stamp = tuple[int, int, int, int, int]


class Entry(NamedTuple):
    """A file as it was at a look."""

    stamp: Stamp
    git: str | None = None
    """The name of its content in git."""
    copy: tuple[int, int] | None = None
    """Where its bytes are in our own file, and how many."""

    @property
    def mode(self) -> int:
        return self.stamp[4]


class SeenStep(NamedTuple):
    """What a look found of one path."""

    look: int
    path: str
    old: Entry | None
    new: Entry | None


class Scan:
    """One walk through the folder."""

    def __init__(self, closed: list[int] | None, opening: list[int] | None) -> None:
        self.files: dict[str, os.stat_result] = {}
        self.folders: set[str] = set()
        self.whole = True
        self._closed = closed
        self._opening = opening
        self._until = time.monotonic() + LOOK_SECONDS

    def walk(self, folder: int, prefix: str, above: Ignoring, depth: int = 0) -> None:
        closed = identity(folder) == self._closed
        rules = above if closed else above.below(folder, prefix)
        below: list[str] = []
        with os.scandir(folder) as found:
            for entry in found:
                path = prefix + entry.name
                is_folder = entry.is_dir(follow_symlinks=False)
                if entry.name in SKIPPED or rules.leaves_out(path, is_folder=is_folder):
                    continue
                if is_folder:
                    below.append(entry.name)
                elif not closed:
                    self._add(path, entry)
        if self.whole:
            self.folders.add(prefix)
        for name in sorted(below) if depth < DEEPEST else ():
            if not self.whole:
                return
            self._enter(folder, name, prefix, rules, depth, closed=closed)

    def _enter(
        self, folder: int, name: str, prefix: str, rules: Ignoring, depth: int, *, closed: bool
    ) -> None:
        try:
            descriptor = os.open(name, FOLDER, dir_fd=folder)
        except OSError:
            return
        try:
            if not closed or identity(descriptor) == self._opening:
                self.walk(descriptor, f"{prefix}{name}/", rules, depth + 1)
        finally:
            os.close(descriptor)

    def _add(self, path: str, entry: "os.DirEntry[str]") -> None:
        if len(self.files) >= MOST_FILES or time.monotonic() > self._until:
            self.whole = False
            return
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:
            return
        if stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode):
            self.files[path] = found


class FolderWatch:
    def __init__(self, folder: str, closed: list[int] | None, opening: list[int] | None) -> None:
        self._folder = folder
        self._closed = closed
        self._opening = opening
        self._root = os.open(folder, FOLDER)
        self._index = Index(folder)
        self._copies: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._size = 0
        self._files: dict[str, Entry] = {}
        self._folders: set[str] = set()
        self._whole = True
        self._look = 0
        self._steps: list[SeenStep] = []

    def look(self, since: int | None, until: int | None) -> dict[str, Any]:
        scan = Scan(self._closed, self._opening)
        scan.walk(self._root, "", Ignoring(None, "", ""))
        self._index.look()
        self._look += 1
        first = self._look == 1
        patience = time.monotonic() + COPY_SECONDS
        now: dict[str, Entry] = {}
        for path, found in scan.files.items():
            known = self._files.get(path)
            if known is not None and known.stamp == stamp_of(found):
                now[path] = known
                continue
            now[path] = entry = self._entry(path, found, patience)
            if not first and (known is not None or self._whole or parent(path) in self._folders):
                self._steps.append(SeenStep(self._look, path, known, entry))
        for path, known in self._files.items():
            if path in now:
                continue
            if scan.whole or not os.path.lexists(os.path.join(self._folder, path)):
                self._steps.append(SeenStep(self._look, path, known, None))
            else:
                now[path] = known
        told = [] if since is None else self._since(since, until or self._look)
        self._files, self._whole = now, scan.whole
        self._folders = scan.folders
        return {"look": self._look, "files": len(now), "whole": scan.whole, "changes": told}

    def forget(self, before: int) -> None:
        """Nobody will ask for what a look before this one found."""
        self._steps = [step for step in self._steps if step.look > before]

    def _entry(self, path: str, found: os.stat_result, until: float) -> Entry:
        stamp = stamp_of(found)
        if stat.S_ISREG(found.st_mode):
            name = self._index.clean(path, found)
            if name is not None:
                return Entry(stamp, git=name)
        if time.monotonic() > until:
            return Entry(stamp)
        content = read(self._folder, path, stamp)
        if content is None:
            return Entry(stamp)
        if self._size + len(content) > ALL_BYTES:
            self._compact()
        if self._size + len(content) > ALL_BYTES:
            return Entry(stamp)
        self._copies.seek(self._size)
        self._copies.write(content)
        copy = self._size, len(content)
        self._size += len(content)
        return Entry(stamp, copy=copy)

    def _compact(self) -> None:
        """Let go of copies that nobody can ask for."""
        entries = [*self._files.values(), *(e for s in self._steps for e in (s.old, s.new) if e)]
        live = {entry.copy for entry in entries if entry.copy is not None}
        if sum(size for _, size in live) > ALL_BYTES // 2:
            return
        fresh: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        moved: dict[tuple[int, int], tuple[int, int]] = {}
        for at, size in sorted(live):
            self._copies.seek(at)
            moved[at, size] = fresh.tell(), size
            fresh.write(self._copies.read(size))

        def follow(entry: Entry | None) -> Entry | None:
            if entry is None or entry.copy is None:
                return entry
            return entry._replace(copy=moved[entry.copy])

        self._files = {path: follow(entry) or entry for path, entry in self._files.items()}
        self._steps = [s._replace(old=follow(s.old), new=follow(s.new)) for s in self._steps]
        self._size = fresh.tell()
        self._copies.close()
        self._copies = fresh

    def _since(self, look: int, until: int) -> list[dict[str, Any]]:
        """From the first step after the one look to the last of the other, path by path."""
        ends: dict[str, list[SeenStep]] = {}
        for step in self._steps:
            if look < step.look <= until:
                ends.setdefault(step.path, []).append(step)
        told, room = [], TOLD_BYTES
        for path, steps in list(ends.items())[:TOLD]:
            old, new = steps[0].old, steps[-1].new
            if old is None and new is None:
                continue
            was, room = self._told(old, room)
            then, room = self._told(new, room)
            if then is not None and not then["digest"] and new is not None:
                then["digest"] = digest(self._folder, path, new.stamp)
            told.append({"path": path, "old": was, "new": then, "folders": self._made(path)})
        return told

    def _told(self, entry: Entry | None, room: int) -> tuple[dict[str, Any] | None, int]:
        if entry is None:
            return None, room
        content = self._content(entry)
        known = "" if content is None else hashlib.sha256(content).hexdigest()
        if content is not None and len(content) > room:
            content = None
        said = {
            "mode": entry.mode & PERMISSIONS,
            "link": stat.S_ISLNK(entry.mode),
            "size": entry.stamp[2],
            "digest": known,
            "content": None if content is None else base64.b64encode(content).decode(),
        }
        return said, room - len(content or b"")

    def _content(self, entry: Entry) -> bytes | None:
        if entry.copy is not None:
            self._copies.seek(entry.copy[0])
            return self._copies.read(entry.copy[1])
        if entry.git is None:
            return None
        content = content_of(self._folder, entry.git)
        # Where git changes what it writes out, its content is not the file's.
        return content if content is not None and len(content) == entry.stamp[2] else None

    def _made(self, path: str) -> list[str]:
        """The folders on its way that were not there at the last look."""
        parts = path.split("/")
        ways = ["/".join(parts[:n]) for n in range(1, len(parts))]
        return [way for way in ways if f"{way}/" not in self._folders] if self._whole else []


def read(folder: str, path: str, stamp: Stamp) -> bytes | None:
    """The bytes of a file, or where a link leads; None: it is too large, or not that one any more."""
    whole = os.path.join(folder, path)
    try:
        if stat.S_ISLNK(stamp[4]):
            target = os.fsencode(os.readlink(whole))
            return target if stamp_of(os.lstat(whole)) == stamp else None
        if stamp[2] > FILE_BYTES:
            return None
        with open(os.open(whole, FILE), "rb") as file:
            # What is opened by a path may be another's, through a link that was put on the way.
            if stamp_of(os.fstat(file.fileno())) != stamp:
                return None
            content = file.read(FILE_BYTES + 1)
            return content if stamp_of(os.fstat(file.fileno())) == stamp else None
    except OSError:
        return None


def digest(folder: str, path: str, stamp: Stamp) -> str:
    """Of a file that is too large to be told; empty if it is not that one any more."""
    if stamp[2] > DIGEST_BYTES or not stat.S_ISREG(stamp[4]):
        return ""
    try:
        with open(os.open(os.path.join(folder, path), FILE), "rb") as file:
            if stamp_of(os.fstat(file.fileno())) != stamp:
                return ""
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def stamp_of(found: os.stat_result) -> Stamp:
    return found.st_ino, found.st_mtime_ns, found.st_size, found.st_ctime_ns, found.st_mode


def parent(path: str) -> str:
    return path[: path.rfind("/") + 1]


def main() -> None:
    asked = json.loads(sys.argv[1])
    watch = FolderWatch(asked["folder"], asked["closed"], asked["opening"])
    for line in sys.stdin:
        request = json.loads(line)
        answer = watch.look(request.get("since"), request.get("until"))
        if "forget" in request:
            watch.forget(request["forget"])
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    os.nice(5)
    main()
