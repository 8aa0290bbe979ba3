"""A list of files that fits: all of them, or as many levels as there is room for."""

from collections import Counter
from collections.abc import Iterator, Sequence


def listed(paths: Sequence[str], *, start: int, limit: int) -> Iterator[str]:
    """The paths, if they fit; else those that are not too deep, and how many files are in the
    folders below. `start`: how much of each path is the same for all."""
    for depth in range(max((path.count("/", start) for path in paths), default=0), -1, -1):
        lines, size = _to_depth(paths, start, depth, limit)
        if size <= limit:
            yield from lines
            return
    yield from _cut(lines if paths else [], limit)


def _to_depth(paths: Sequence[str], start: int, depth: int, limit: int) -> tuple[list[str], int]:
    """Files up to so many levels deep, and deeper folders with their counts, in order."""
    counts: Counter[str] = Counter()
    lines: dict[str, None] = {}
    size = 0
    for path in paths:
        levels = path[start:].split("/")
        deep = len(levels) - 1 > depth
        line = path[:start] + "/".join(levels[: depth + 1]) + "/" if deep else path
        counts[line] += deep
        if line not in lines:
            lines[line] = None
            size += len(line) + (1 if not deep else len("  (000,000 files)"))
            if size > limit and depth:
                break
    return [f"{line}  ({counts[line]:,} files)" if counts[line] else line for line in lines], size


def _cut(lines: Sequence[str], limit: int) -> Iterator[str]:
    for shown, line in enumerate(lines):
        limit -= len(line) + 1
        if limit < 0:
            yield f"[{len(lines) - shown:,} more left out: output is capped]"
            return
        yield line
