"""What .gitignore files leave out: nested ones too, and what `!` takes back. Standard library only."""

import os
import re
import sys
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tenuto.agent.tools.processes.programs.globs import translated, understood
else:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from globs import translated, understood

NAME = ".gitignore"
FILE_BYTES = 256_000
MOST_RULES = 5_000
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


class IgnoreRule(NamedTuple):
    pattern: "re.Pattern[str]"
    takes_back: bool
    folders_only: bool


class Ignoring:
    """The rules that hold in one folder: its own come after, and so before, those above it."""

    def __init__(self, above: "Ignoring | None", base: str, text: str) -> None:
        self._above = above
        self._base = len(base)
        self._rules = rules(text)
        # Most paths match none of them, and are asked about once.
        self._any = understood("|".join(f"(?:{rule.pattern.pattern})" for rule in self._rules))

    def below(self, folder: int, base: str) -> "Ignoring":
        """The rules for a folder that is at `base`; its own file is read from there."""
        text = read(folder)
        return Ignoring(self, base, text) if text else self

    def leaves_out(self, path: str, *, is_folder: bool) -> bool:
        """By the last rule that matches, of the nearest file that has one."""
        may = bool(self._rules) and (self._any is None or self._any.fullmatch(path, self._base))
        for rule in reversed(self._rules if may else ()):
            if rule.folders_only and not is_folder:
                continue
            if rule.pattern.fullmatch(path, self._base):
                return not rule.takes_back
        return self._above is not None and self._above.leaves_out(path, is_folder=is_folder)


def read(folder: int) -> str:
    """The folder's own rules; nothing if it has none that can be read."""
    try:
        descriptor = os.open(NAME, FILE, dir_fd=folder)
    except OSError:
        return ""
    try:
        return os.read(descriptor, FILE_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def rules(text: str) -> list[IgnoreRule]:
    """Each line that makes sense; the others leave nothing out."""
    found = (rule(line) for line in text.splitlines())
    return list(islice((one for one in found if one is not None), MOST_RULES))


def rule(line: str) -> IgnoreRule | None:
    line = trimmed(line)
    if not line or line.startswith("#"):
        return None
    takes_back = line.startswith("!")
    line = line[1:] if takes_back else line
    line = line[1:] if line[:2] in ("\\#", "\\!") else line
    folders_only = line.endswith("/")
    line = line.rstrip("/")
    if not line:
        return None
    glob = line.lstrip("/") if "/" in line else f"**/{line}"
    # What is inside `folder/**` is meant, not the folder.
    if glob.endswith("/**"):
        glob += "/*"
    pattern = understood(translated(glob, braces=False))
    return pattern and IgnoreRule(pattern, takes_back, folders_only)


def trimmed(line: str) -> str:
    """Without blanks at its end, unless a backslash keeps one."""
    bare = line.rstrip(" \t\r")
    return bare + " " if bare.endswith("\\") and line != bare else bare
