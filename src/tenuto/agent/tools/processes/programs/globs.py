"""Globs as regular expressions. Standard library only."""

import re

NOTHING = r"(?!)"


def understood(pattern: str) -> "re.Pattern[str] | None":
    try:
        return re.compile(pattern, re.DOTALL)
    except (re.error, OverflowError, RecursionError):
        return None


def translated(glob: str, *, braces: bool = True) -> str:
    """A glob with ** and, in the way of shells, {a,b} as a regular expression."""
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
        elif rest[0] == "\\" and len(rest) > 1:
            out, step = out + re.escape(rest[1]), 2
        elif braces and rest[0] == "{" and "}" in rest:
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
