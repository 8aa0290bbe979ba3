"""Finds the passage that a model means: exactly as it wrote it, else whole lines that are the same
but for blanks at their ends or for their indentation, if there is one such place only."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from difflib import get_close_matches

from tenuto.agent.tools.files.indentation import Indentation
from tenuto.core.text import whole
from tenuto.core.value import Value
from tenuto.ports.tool import ToolFailed

NUMBERED = re.compile(r"^ *\d+\t", re.MULTILINE)
"""How `read_file` shows a line's number."""
COMPARED_LINES = 20_000
COMPARED_CHARACTERS = 200
SHOWN_LINES = 14
SHOWN_CHARACTERS = 200
NAMED_LINES = 8
"""Places of a passage that occurs often: so many are named."""


class Replacement(Value):
    old: str
    new: str
    everywhere: bool = False


class Edited(Value):
    text: str
    count: int
    remark: str = ""
    """What was done differently than it was asked for; empty if nothing was."""


def edited(text: str, edit: Replacement) -> Edited:
    """The text with the change made. Raises ToolFailed, with what helps, if it is not plain what
    is meant."""
    plain = _in_line_endings_of(text, edit)
    if plain.old == plain.new:
        raise ToolFailed("old and new are the same: there is nothing to change.")
    if plain.old in text:
        return _replaced(text, plain)
    bare = _without_numbers(edit)
    if bare is not None and (there := _in_line_endings_of(text, bare)).old in text:
        return _with_remark(_replaced(text, there), "The line numbers in old were left out.")
    found = _alike(text, bare or edit)
    if found is None:
        raise ToolFailed(f"old does not occur in the file. {_nearest(text, (bare or edit).old)}")
    return found


def _in_line_endings_of(text: str, edit: Replacement) -> Replacement:
    """The change in the file's own line endings: readers are shown lines without them."""
    meant_as_is = "\n" in edit.old and edit.old in text
    if "\r\n" not in text or meant_as_is:
        return edit
    return Replacement(
        old=_with_crlf(edit.old), new=_with_crlf(edit.new), everywhere=edit.everywhere
    )


def _with_crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _replaced(text: str, edit: Replacement) -> Edited:
    count = text.count(edit.old)
    if count > 1 and not edit.everywhere:
        lines: list[int] = []
        at = text.find(edit.old)
        while at >= 0 and len(lines) <= NAMED_LINES:
            lines.append(text.count("\n", 0, at) + 1)
            at = text.find(edit.old, at + len(edit.old))
        raise ToolFailed(_too_often(count, lines))
    return Edited(text=text.replace(edit.old, edit.new), count=count)


def _too_often(count: int, lines: Sequence[int]) -> str:
    named = ", ".join(map(str, lines[:NAMED_LINES])) + (" …" if len(lines) > NAMED_LINES else "")
    return (
        f"old occurs {count} times, at lines {named}. Add lines around it until it occurs "
        "once, or set all to true."
    )


def _with_remark(done: Edited, remark: str) -> Edited:
    return Edited(text=done.text, count=done.count, remark=remark)


def _without_numbers(edit: Replacement) -> Replacement | None:
    """The change without the line numbers that were copied with it; None if there are none."""
    lines = [line for line in edit.old.split("\n") if line.strip()]
    if not lines or not all(NUMBERED.match(line) for line in lines):
        return None
    new = edit.new.split("\n")
    numbered = all(NUMBERED.match(line) for line in new if line.strip())
    return Replacement(
        old=NUMBERED.sub("", edit.old),
        new=NUMBERED.sub("", edit.new) if numbered else edit.new,
        everywhere=edit.everywhere,
    )


def _alike(text: str, edit: Replacement) -> Edited | None:
    """The change made where whole lines are nearly those of `old`; None if there is no such place."""
    lines = text.split("\n")
    wanted = edit.old.replace("\r\n", "\n").strip("\n").split("\n")
    if len(lines) > COMPARED_LINES or not any(line.strip() for line in wanted):
        return None
    for same, remark in (
        (str.rstrip, "Blanks at the ends of lines differ from old."),
        (str.strip, "The indentation differs from old; new was indented as the file is."),
    ):
        places = _places(lines, wanted, same)
        if not places:
            continue
        if len(places) > 1 and not edit.everywhere:
            raise ToolFailed(_too_often(len(places), [place + 1 for place in places]))
        return _exchanged(lines, wanted, edit, places, remark)
    return None


def _places(lines: Sequence[str], wanted: Sequence[str], same: Callable[[str], str]) -> list[int]:
    """Where the wanted lines begin; places never overlap."""
    have, want = [same(line) for line in lines], [same(line) for line in wanted]
    places: list[int] = []
    for at in range(len(have) - len(want) + 1):
        if have[at] != want[0] or have[at : at + len(want)] != want:
            continue
        if not places or at >= places[-1] + len(want):
            places.append(at)
    return places


def _exchanged(
    lines: list[str], wanted: Sequence[str], edit: Replacement, places: Sequence[int], remark: str
) -> Edited | None:
    ending = "\r" if lines[0].endswith("\r") else ""
    new = edit.new.replace("\r\n", "\n").strip("\n")
    for at in reversed(places):
        there = lines[at : at + len(wanted)]
        indentation = Indentation.between(wanted, there)
        if indentation is None:
            return None
        fresh = [indentation.of(line) + ending for line in new.split("\n")] if new else []
        lines[at : at + len(wanted)] = fresh
    return Edited(text="\n".join(lines), count=len(places), remark=remark)


def _nearest(text: str, old: str) -> str:
    """The window of the file that is most like `old`, with the first line that differs."""
    lines = [line.rstrip("\r") for line in text.split("\n")][:COMPARED_LINES]
    wanted = old.replace("\r\n", "\n").strip("\n").split("\n")
    at = _most_alike(lines, wanted)
    if at is None:
        return "Read the file again: nothing in it is like it."
    first = max(0, at)
    window = lines[first : max(0, at + len(wanted))][:SHOWN_LINES]
    shown = "\n".join(f"{first + n + 1:6}\t{_cut(line)}" for n, line in enumerate(window))
    return f"The nearest is:\n{shown}\n{_difference(lines, wanted, at)}"


def _most_alike(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Where the wanted lines would begin; before the file, if only their end is there."""
    where: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        if line.strip():
            where.setdefault(line.strip(), []).append(number)
    votes: Counter[int] = Counter()
    for offset, line in enumerate(wanted):
        votes.update(number - offset for number in where.get(line.strip(), ())[:100])
    if votes:
        most = max(votes.values())
        return min(at for at, count in votes.items() if count == most)
    first = next((n for n, line in enumerate(wanted) if line.strip()), 0)
    sample = wanted[first].strip()[:COMPARED_CHARACTERS]
    names = {line[:COMPARED_CHARACTERS]: numbers[0] for line, numbers in where.items()}
    near = get_close_matches(sample, list(names)[:5000], n=1, cutoff=0.6)
    return names[near[0]] - first if near else None


def _difference(lines: Sequence[str], wanted: Sequence[str], at: int) -> str:
    for offset, line in enumerate(wanted):
        number = at + offset
        have = lines[number] if 0 <= number < len(lines) else None
        if have is None:
            return f"old goes beyond the file there: {_cut(line)!r}"
        if have.strip() != line.strip():
            return f"Line {number + 1} is {_cut(have)!r}, and old has {_cut(line)!r}."
    return "The lines are the same there but for their indentation, which has no clear pattern."


def _cut(line: str) -> str:
    line = whole(line)
    return line if len(line) <= SHOWN_CHARACTERS else f"{line[:SHOWN_CHARACTERS]}…"
