"""What a person may want to allow from now on, having been asked about one call."""

import posixpath

from tenuto.core.rule import Subject, SubjectKind
from tenuto.core.shell_line import INTERPRETERS, Words
from tenuto.core.value import Value

MOST = 4
WITH_VERBS = frozenset(
    [
        "git",
        "gh",
        "glab",
        "npm",
        "npx",
        "yarn",
        "pnpm",
        "bun",
        "pip",
        "pip3",
        "uv",
        "poetry",
        "cargo",
        "go",
        "make",
        "just",
        "docker",
        "podman",
        "kubectl",
        "helm",
        "terraform",
        "apt",
        "apt-get",
        "dnf",
        "brew",
        "systemctl",
        "journalctl",
        "dotnet",
        "mvn",
        "gradle",
        "composer",
        "bundle",
        "rails",
        "mix",
        "deno",
        "rustup",
        "nvm",
        "conda",
        "tox",
        "nox",
        "hatch",
    ]
)
"""Commands whose second word says what they do."""
NEVER_WHOLE = frozenset(
    [
        "rm",
        "rmdir",
        "dd",
        "mkfs",
        "shred",
        "chmod",
        "chown",
        "chgrp",
        "kill",
        "pkill",
        "killall",
        "mv",
        "curl",
        "wget",
        "nc",
        "ncat",
        "socat",
        "scp",
        "rsync",
        "reboot",
        "shutdown",
        "mount",
        "umount",
        "tee",
        "truncate",
        "ln",
        "install",
        "patch",
        "awk",
        "gawk",
        "mawk",
        "sed",
        "vim",
        "vi",
        "ed",
    ]
)
"""Commands that are only suggested as they are."""


class Suggestion(Value):
    """A rule that the server offers; a client says only which."""

    pattern: str
    about: str
    """In words, for a person."""


def suggestions(subject: Subject) -> tuple[Suggestion, ...]:
    """From the narrowest to the widest; none where no pattern could judge the call."""
    if subject.unclear:
        return ()
    found: dict[str, Suggestion] = {}
    for thing in subject.things:
        for one in _of(subject.kind, thing):
            found.setdefault(one.pattern, one)
    return tuple(found.values())[:MOST]


def _of(kind: SubjectKind, thing: str | Words) -> list[Suggestion]:
    match kind:
        case SubjectKind.COMMAND if not isinstance(thing, str):
            return _commands(thing)
        case SubjectKind.PATH if isinstance(thing, str):
            return _paths(thing)
        case SubjectKind.HOST if isinstance(thing, str):
            return [Suggestion(pattern=thing, about=f"anything on {thing}")]
    return []


def _commands(words: Words) -> list[Suggestion]:
    # A word with a blank or a star in it cannot be said in a pattern.
    plain = all(word and not set(word) & set(" \t\n*") for word in words)
    line = " ".join(words)
    exact = [Suggestion(pattern=line, about=f"only: {line}")] if plain else []
    begin = " ".join(_doing(words))
    if not begin or set(begin) & set("*\t\n"):
        return exact
    return [*exact, Suggestion(pattern=f"{begin} *", about=f"{begin} with anything after it")]


def _doing(words: Words) -> Words:
    """The words that say what is done; none where they would say too little."""
    if words[0] in NEVER_WHOLE:
        return ()
    if INTERPRETERS.match(words[0]):
        # A module by its name; any script would be anything.
        return words[:3] if words[1:2] == ("-m",) and len(words) > 2 else ()
    if words[0] not in WITH_VERBS:
        return words[:1]
    return words[:2] if len(words) > 1 and not words[1].startswith("-") else ()


def _paths(path: str) -> list[Suggestion]:
    if set(path) & set("*?"):
        return []
    exact = Suggestion(pattern=f"./{path}", about=f"only: {path}")
    folder = posixpath.dirname(path)
    if not folder:
        return [exact, Suggestion(pattern="**", about="every file of the workspace")]
    return [exact, Suggestion(pattern=f"{folder}/**", about=f"every file in {folder}/")]
