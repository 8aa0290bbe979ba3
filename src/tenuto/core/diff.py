"""What changed in a text, as a unified diff."""

import re
from difflib import unified_diff
from typing import Any

from tenuto.core.text import capped
from tenuto.core.value import Value

CONTEXT = 3
SHOWN_CHARACTERS = 30_000
COMPARED = 1_000_000
"""Old lines times new lines: beyond this, comparing would take too long."""
TEXT_BYTES = 1_000_000
HUNK = re.compile(r"^@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@$")


class Changed(Value):
    """What became of a text."""

    path: str
    diff: str
    """Capped, the cap said; empty if it is the same as before."""
    added: int
    removed: int

    @property
    def count(self) -> str:
        return f"+{self.added:,} −{self.removed:,} lines"

    @property
    def told(self) -> str:
        return f"{self.count}." if self.diff else "It is the same as before."

    @property
    def details(self) -> dict[str, Any]:
        """For clients."""
        counts = {"added": self.added, "removed": self.removed}
        return {"kind": "edited", "path": self.path, "diff": self.diff, **counts}


def changed(path: str, old: str, new: str, *, limit: int = SHOWN_CHARACTERS) -> Changed:
    """The change of one file, as it is shown."""
    whole = diff(path, old, new)
    lines = whole.split("\n")[2:]
    return Changed(
        path=path,
        diff=capped(whole, limit),
        added=sum(line.startswith("+") for line in lines),
        removed=sum(line.startswith("-") for line in lines),
    )


def diff(path: str, old: str, new: str) -> str:
    """The change of one file; empty if there is none."""
    if old == new:
        return ""
    before, after = old.split("\n"), new.split("\n")
    same = max(0, _shared(before, after) - CONTEXT)
    end = max(0, _shared(before[same:][::-1], after[same:][::-1]) - CONTEXT)
    before, after = before[same : len(before) - end], after[same : len(after) - end]
    body = _compared if len(before) * len(after) <= COMPARED else _exchanged
    lines = body(before, after)
    moved = [_moved(line, same) if line.startswith("@@") else line for line in lines]
    return "\n".join([f"--- {path}", f"+++ {path}", *moved])


def _shared(before: list[str], after: list[str]) -> int:
    """How many lines both begin with."""
    pairs = enumerate(zip(before, after, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(before), len(after)))


def _compared(before: list[str], after: list[str]) -> list[str]:
    return list(unified_diff(before, after, n=CONTEXT, lineterm=""))[2:]


def _exchanged(before: list[str], after: list[str]) -> list[str]:
    """Everything out, everything in but what both end with: true, if not the shortest."""
    end = _shared(before[::-1], after[::-1])
    old, new, rest = before[: len(before) - end], after[: len(after) - end], before[-end:]
    heading = f"@@ -1,{len(before)} +1,{len(after)} @@"
    same = [f" {line}" for line in rest] if end else []
    return [heading, *(f"-{line}" for line in old), *(f"+{line}" for line in new), *same]


def _moved(heading: str, by: int) -> str:
    """A hunk's heading, for a text that has `by` more lines in front."""
    found = HUNK.match(heading)
    if found is None:
        return heading
    old, old_count, new, new_count = found.groups(default="")
    return f"@@ -{int(old) + by}{old_count} +{int(new) + by}{new_count} @@"


def compared(path: str, old: bytes | None, new: bytes | None, *, limit: int) -> Changed | None:
    """The change of a text of which these are the bytes; None: one of them is no text, too long
    to compare, or not known."""
    texts = [_text(one) for one in (old, new)]
    if texts[0] is None or texts[1] is None:
        return None
    return changed(path, texts[0], texts[1], limit=limit)


def _text(content: bytes | None) -> str | None:
    if content is None or len(content) > TEXT_BYTES or b"\0" in content:
        return None
    return content.decode("utf-8", "replace")
