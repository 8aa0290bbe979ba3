"""A line for a shell, taken apart where it really splits. What cannot be judged is said to be so.

Nothing here is executed or expanded. A line is plain if every word of it means what it says; then each
command in it can be judged by itself. Everything else is unclear, and only a person can judge it.
"""

import re

from tenuto.core.value import Value

Words = tuple[str, ...]

SEPARATORS = ("&&", "||", "|&", ";;", ";", "&", "|", "\n", "(", ")")
HARMLESS = re.compile(r"(?:[12]?>>?|&>>?) ?/dev/null(?=[\s;&|)]|$)|[12]?>&[12](?=[\s;&|)]|$)")
"""Output thrown away, or sent where the other output goes: no file is touched."""
BRACES = re.compile(r"\{[^{}]*(?:,|\.\.)[^{}]*\}")
ASSIGNED = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
KEYWORDS = frozenset(
    [
        "if",
        "then",
        "else",
        "elif",
        "fi",
        "for",
        "while",
        "until",
        "do",
        "done",
        "case",
        "esac",
        "select",
        "function",
        "in",
        "time",
        "coproc",
        "{",
        "}",
        "[[",
        "]]",
        "!",
    ]
)
HIDING = frozenset(
    [
        "eval",
        "exec",
        "source",
        ".",
        "command",
        "builtin",
        "env",
        "nohup",
        "setsid",
        "nice",
        "ionice",
        "timeout",
        "stdbuf",
        "watch",
        "xargs",
        "parallel",
        "sudo",
        "doas",
        "su",
        "runuser",
        "chroot",
        "unshare",
        "nsenter",
        "ssh",
        "trap",
        "alias",
        "unalias",
        "set",
        "export",
        "declare",
        "typeset",
        "readonly",
        "local",
        "hash",
        "enable",
        "bind",
        "complete",
        "script",
        "expect",
        "busybox",
        "at",
        "batch",
        "crontab",
        "systemd-run",
        "strace",
        "ltrace",
        "gdb",
        "flock",
        "entr",
    ]
)
"""Words that run what comes after them, or change what later words mean."""
SHELLS = frozenset(
    ["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "rbash", "pwsh"]
)
INTERPRETERS = re.compile(
    r"(?:python|pypy|perl|ruby|node|deno|bun|php|lua|Rscript|osascript)[\d.]*$"
)
CODE = frozenset(
    {"-c", "-e", "-E", "-r", "--eval", "--exec", "-p", "--print", "-ne", "-pe", "eval"}
)
RUNNING = ("-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprintf", "-fls")


class Unclear(Value):
    """A line that no rule can judge."""

    why: str


def taken_apart(line: str) -> tuple[Words, ...] | Unclear:
    """The words of each command in the line, in order, without their quotes; or why not."""
    try:
        commands = _Reader(line).commands()
        for words in commands:
            _must_be_plain(words)
    except _Doubt as doubt:
        return Unclear(why=str(doubt))
    return commands or Unclear(why="it has no command")


class _Doubt(Exception):
    """Something in the line is not what it seems, or may not be."""


class _Reader:
    def __init__(self, line: str) -> None:
        # A backslash at the end of a line joins it with the next one.
        self._line = line.replace("\\\n", "")
        self._at = 0
        self._word: str | None = None
        """None: between words; an empty one may have been quoted."""
        self._quoted = False
        self._bare = ""
        """What of the word is before its first quote."""
        self._words: list[str] = []
        self._commands: list[Words] = []

    def commands(self) -> tuple[Words, ...]:
        if any((ord(c) < 32 and c not in "\t\n") or ord(c) == 127 for c in self._line):
            raise _Doubt("it has control characters")
        while self._at < len(self._line):
            self._step()
        self._end_command()
        return tuple(self._commands)

    def _step(self) -> None:
        rest = self._line[self._at :]
        first = rest[0]
        if first in " \t":
            self._end_word()
            self._at += 1
        elif first == "#" and self._word is None:
            self._at += len(rest.split("\n", 1)[0])
        elif self._word is None and (found := HARMLESS.match(rest)):
            self._at += found.end()
        elif self._word in ("1", "2") and not self._quoted and (found := HARMLESS.match(rest)):
            self._word = None
            self._at += found.end()
        elif first in "<>":
            raise _Doubt("it reads from or writes to a file or a here-document")
        elif rest.startswith("&>"):
            raise _Doubt("it writes to a file")
        elif separator := next((s for s in SEPARATORS if rest.startswith(s)), None):
            if separator in "()":
                raise _Doubt("it has parentheses")
            self._end_command()
            self._at += len(separator)
        else:
            self._letter(rest)

    def _letter(self, rest: str) -> None:
        first = rest[0]
        if first in "$`":
            raise _Doubt("it has a substitution")
        if first == "'":
            self._quote(rest, "'")
        elif first == '"':
            self._quote(rest, '"')
        elif first == "\\":
            if len(rest) < 2:
                raise _Doubt("it ends with a backslash")
            self._add(rest[1], quoted=True)
            self._at += 2
        else:
            if first == "{" and BRACES.match(rest):
                raise _Doubt("braces in it stand for several words")
            self._add(first)
            self._at += 1

    def _quote(self, rest: str, mark: str) -> None:
        text, at = "", 1
        while at < len(rest) and rest[at] != mark:
            if mark == '"' and rest[at] in "$`":
                raise _Doubt("it has a substitution")
            if mark == '"' and rest[at] == "\\" and rest[at + 1 : at + 2] in ("$", "`", '"', "\\"):
                at += 1
            text += rest[at : at + 1]
            at += 1
        if at >= len(rest):
            raise _Doubt("a quote in it is not closed")
        self._add(text, quoted=True)
        self._at += at + 1

    def _add(self, text: str, *, quoted: bool = False) -> None:
        self._quoted = self._quoted or quoted
        self._word = (self._word or "") + text
        if not self._quoted:
            self._bare = self._word

    def _end_word(self) -> None:
        if self._word is not None:
            if not self._words and ASSIGNED.match(self._bare):
                raise _Doubt("it sets a variable")
            if not self._words and not self._quoted and self._word in KEYWORDS:
                raise _Doubt(f"it has the keyword {self._word}")
            self._words.append(self._word)
        self._word, self._quoted, self._bare = None, False, ""

    def _end_command(self) -> None:
        self._end_word()
        if self._words:
            self._commands.append(tuple(self._words))
        self._words = []


def _must_be_plain(words: Words) -> None:
    name = words[0].rsplit("/", 1)[-1]
    if not name or set(words[0]) & set("*?[]~"):
        raise _Doubt("its command is not named plainly")
    if name in HIDING:
        raise _Doubt(f"{name} runs something else, or changes what words mean")
    if name in SHELLS:
        raise _Doubt(f"{name} runs a line of its own")
    if INTERPRETERS.match(name) and any(_is_code(word) for word in words[1:]):
        raise _Doubt(f"{name} runs code from the line")
    if name in ("find", "fd", "fdfind") and any(
        word in RUNNING or word in ("-x", "-X", "--exec", "--exec-batch") for word in words
    ):
        raise _Doubt(f"{name} runs or removes what it finds")


def _is_code(word: str) -> bool:
    return word in CODE or word == "-" or bool(re.match(r"-[a-zA-Z]*[ceEr]", word))
