"""Rules: what a tool may do without asking, may do when asked, and may never do."""

import re
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache

from tenuto.core.permission import Permission
from tenuto.core.shell_line import Unclear, Words, taken_apart
from tenuto.core.value import Value


class Rule(Value):
    tool: str
    """A name; one that ends with * stands for all that begin like it."""
    pattern: str | None = None
    """One command, a path or a host, as the tool is about; None: whatever it is about."""
    decision: Permission


class SubjectKind(StrEnum):
    NOTHING = "nothing"
    """No pattern says anything about it."""
    COMMAND = "command"
    PATH = "path"
    HOST = "host"


class Subject(Value):
    """What one call is about, as rules see it."""

    tool: str
    kind: SubjectKind = SubjectKind.NOTHING
    things: tuple[str | Words, ...] = ()
    """Every one of them must be allowed: commands as words, a path, a host."""
    also: tuple[str, ...] = ()
    """Other tools whose rules hold for it too."""
    unclear: str = ""
    """Why no pattern can judge it; empty if one can."""


def about_command(tool: str, line: str, *, also: tuple[str, ...] = ()) -> Subject:
    found = taken_apart(line)
    if isinstance(found, Unclear):
        return Subject(tool=tool, kind=SubjectKind.COMMAND, also=also, unclear=found.why)
    return Subject(tool=tool, kind=SubjectKind.COMMAND, things=found, also=also)


def about_path(tool: str, path: str) -> Subject:
    return Subject(tool=tool, kind=SubjectKind.PATH, things=(path,))


def about_host(tool: str, host: str) -> Subject:
    return Subject(tool=tool, kind=SubjectKind.HOST, things=(host.lower().rstrip("."),))


def judge(subject: Subject, sources: Sequence[Sequence[Rule]], default: Permission) -> Permission:
    """What these rules say, the nearest source first. A deny anywhere wins; else the last match of
    the nearest source that has one; else the default."""
    names = (subject.tool, *subject.also)
    of_tool = [[r for r in rules if any(_names(r, name) for name in names)] for rules in sources]
    if subject.unclear:
        return _judge_unclear(of_tool, default)
    verdicts = {_judge(subject, thing, of_tool, default) for thing in subject.things or ("",)}
    for verdict in (Permission.DENY, Permission.ASK):
        if verdict in verdicts:
            return verdict
    return Permission.ALLOW


BY_DEFAULT = (
    Rule(tool="read_file", pattern=".env*", decision=Permission.ASK),
    Rule(tool="write_file", pattern=".git/**", decision=Permission.ASK),
    Rule(tool="edit_file", pattern=".git/**", decision=Permission.ASK),
)
"""What is asked about unless somebody said otherwise: keys, and what git runs by itself."""


def granting(grants: Sequence[str]) -> tuple[Rule, ...]:
    """Grants of a session as rules: each is a tool's name, and a pattern behind it if it has one."""
    parts = (grant.partition(" ") for grant in grants)
    return tuple(Rule(tool=t, pattern=p or None, decision=Permission.ALLOW) for t, _, p in parts)


def grant_of(tool: str, pattern: str | None) -> str:
    return tool if pattern is None else f"{tool} {pattern}"


def _judge_unclear(sources: Sequence[Sequence[Rule]], default: Permission) -> Permission:
    """Only a rule for all that the tool does says anything; and one that forbids a part of it may
    be about just this."""
    rules = [rule for source in sources for rule in source]
    if any(rule.decision is Permission.DENY and rule.pattern is None for rule in rules):
        return Permission.DENY
    if any(rule.decision is Permission.DENY for rule in rules):
        return Permission.ASK
    whole = [[rule for rule in source if rule.pattern is None] for source in sources]
    nearest = next((source[-1].decision for source in whole if source), default)
    # A part that asks somewhere may be this one.
    asks = any(rule.decision is Permission.ASK and rule.pattern for rule in rules)
    return Permission.ASK if asks else nearest


def _judge(
    subject: Subject, thing: str | Words, sources: Sequence[Sequence[Rule]], default: Permission
) -> Permission:
    matching = [
        [rule for rule in rules if _matches(rule, subject.kind, thing)] for rules in sources
    ]
    if any(rule.decision is Permission.DENY for rules in matching for rule in rules):
        return Permission.DENY
    return next((rules[-1].decision for rules in matching if rules), default)


def _names(rule: Rule, tool: str) -> bool:
    if rule.tool.endswith("*"):
        return tool.startswith(rule.tool[:-1])
    return rule.tool == tool


def _matches(rule: Rule, kind: SubjectKind, thing: str | Words) -> bool:
    if rule.pattern is None:
        return True
    match kind:
        case SubjectKind.COMMAND:
            return not isinstance(thing, str) and _is_command(rule.pattern, thing)
        case SubjectKind.PATH:
            return isinstance(thing, str) and bool(_path_pattern(rule.pattern).fullmatch(thing))
        case SubjectKind.HOST:
            return isinstance(thing, str) and bool(_host_pattern(rule.pattern).fullmatch(thing))
        case SubjectKind.NOTHING:
            return False


def _is_command(pattern: str, words: Words) -> bool:
    """Word by word; a * at the end stands for any further words."""
    wanted = pattern.split()
    if wanted and wanted[-1] == "*":
        return tuple(wanted[:-1]) == words[: len(wanted) - 1]
    return tuple(wanted) == words


@lru_cache(maxsize=1_000)
def _path_pattern(pattern: str) -> "re.Pattern[str]":
    """A glob: ** goes through folders; one without a slash is a name, at any depth."""
    glob = pattern.removeprefix("./")
    anywhere = "" if "/" in glob else "(?:.*/)?"
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob.strip("/") if "/" in glob else glob)
    meant = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile(anywhere + "".join(meant.get(p, re.escape(p)) for p in parts), re.DOTALL)


@lru_cache(maxsize=1_000)
def _host_pattern(pattern: str) -> "re.Pattern[str]":
    """`*.example.org` is every name below it, and not itself."""
    parts = pattern.lower().split("*")
    return re.compile(r"[^/]+".join(re.escape(part) for part in parts))
