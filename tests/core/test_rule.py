"""Rules for tools: a deny anywhere wins, the nearest word counts, and nothing is granted by guessing."""

import pytest

from tenuto.core.permission import Permission
from tenuto.core.rule import Rule, Subject, about_command, about_host, about_path, judge

ALLOW, ASK, DENY = Permission.ALLOW, Permission.ASK, Permission.DENY


def rule(text: str, decision: Permission = ALLOW) -> Rule:
    tool, _, pattern = text.partition(" ")
    return Rule(tool=tool, pattern=pattern or None, decision=decision)


COMMANDS = [
    ("git status", "git status", ALLOW),
    ("git status", "git status -s", ASK),
    ("git status", "git stash", ASK),
    ("git status *", "git status", ALLOW),
    ("git status *", "git status -s", ALLOW),
    ("git *", "git push --force", ALLOW),
    ("git *", "gitk", ASK),
    ("git *", "git status; rm x", ASK),
    ("git *", "git status && git log", ALLOW),
    ("git *", "git log | git shortlog", ALLOW),
    ("git *", "git status $(rm x)", ASK),
    ("git *", "git log > x", ASK),
    ("git *", "GIT_PAGER=x git log", ASK),
    ("git *", "sudo git status", ASK),
    ("git *", "sh -c 'git status'", ASK),
    ("git *", "'git' status", ALLOW),
    ("git *", "g'i't status", ALLOW),
    ("git *", "/tmp/git status", ASK),
    ("git *", "./git status", ASK),
    ("make test", "make test # and more", ALLOW),
    ("*", "rm -rf x", ALLOW),
    ("*", "rm -rf $x", ASK),
    ("npm run *", "npm run build 2>&1", ALLOW),
    ("npm run *", "npm install", ASK),
]


@pytest.mark.parametrize(("pattern", "line", "verdict"), COMMANDS)
def test_a_pattern_allows_the_commands_that_it_names_and_no_others(
    pattern: str, line: str, verdict: Permission
) -> None:
    rules = [Rule(tool="shell", pattern=pattern, decision=ALLOW)]
    assert judge(about_command("shell", line), [rules], ASK) is verdict


PATHS = [
    ("src/**", "src/a/b.py", ALLOW),
    ("src/**", "src", ASK),
    ("src/**", "other/src/a", ASK),
    ("src/*", "src/a.py", ALLOW),
    ("src/*", "src/a/b.py", ASK),
    ("*.md", "docs/deep/a.md", ALLOW),
    ("*.md", "a.mdx", ASK),
    ("docs/**/*.md", "docs/a.md", ALLOW),
    ("docs/**/*.md", "docs/x/y/a.md", ALLOW),
    (".env*", "deep/.env.local", ALLOW),
    (".env*", "env", ASK),
    ("a?c", "abc", ALLOW),
    ("a.c", "abc", ASK),
    ("./a.txt", "a.txt", ALLOW),
]


@pytest.mark.parametrize(("pattern", "path", "verdict"), PATHS)
def test_a_path_is_allowed_by_a_glob(pattern: str, path: str, verdict: Permission) -> None:
    rules = [Rule(tool="write_file", pattern=pattern, decision=ALLOW)]
    assert judge(about_path("write_file", path), [rules], ASK) is verdict


HOSTS = [
    ("example.org", "example.org", ALLOW),
    ("example.org", "Example.ORG.", ALLOW),
    ("example.org", "sub.example.org", ASK),
    ("*.example.org", "sub.example.org", ALLOW),
    ("*.example.org", "example.org", ASK),
    ("*.example.org", "example.org.evil.net", ASK),
    ("*.example.org", "evilexample.org", ASK),
]


@pytest.mark.parametrize(("pattern", "host", "verdict"), HOSTS)
def test_a_host_is_allowed_by_its_name(pattern: str, host: str, verdict: Permission) -> None:
    rules = [Rule(tool="fetch_url", pattern=pattern, decision=ALLOW)]
    assert judge(about_host("fetch_url", host), [rules], ASK) is verdict


def test_a_deny_anywhere_wins() -> None:
    far, near = [rule("shell git push *", DENY)], [rule("shell git *")]
    push = about_command("shell", "git status && git push")
    assert judge(push, [near, far], ASK) is DENY
    assert judge(push, [far, near], ASK) is DENY
    assert judge(about_command("shell", "git status"), [near, far], ASK) is ALLOW


def test_the_last_match_of_the_nearest_source_counts() -> None:
    near = [rule("shell git *"), rule("shell git push *", ASK)]
    far = [rule("shell git push *")]
    assert judge(about_command("shell", "git push"), [near, far], DENY) is ASK
    assert judge(about_command("shell", "git push"), [far, near], DENY) is ALLOW
    assert judge(about_command("shell", "ls"), [near, far], DENY) is DENY


def test_what_is_unclear_is_judged_by_rules_for_all_that_a_tool_does_only() -> None:
    line = about_command("shell", "echo $(rm x)")
    assert judge(line, [[rule("shell *")]], ASK) is ASK
    assert judge(line, [[rule("shell")]], ASK) is ALLOW
    assert judge(line, [[rule("shell", DENY)]], ALLOW) is DENY
    # It may be what is forbidden, or asked about.
    assert judge(line, [[rule("shell"), rule("shell rm *", DENY)]], ASK) is ASK
    assert judge(line, [[rule("shell"), rule("shell rm *", ASK)]], ASK) is ASK


def test_names_of_tools_may_end_in_a_star() -> None:
    rules = [rule("github__*"), rule("github__delete_repo", DENY)]
    assert judge(Subject(tool="github__list"), [rules], ASK) is ALLOW
    assert judge(Subject(tool="github__delete_repo"), [rules], ASK) is DENY
    assert judge(Subject(tool="gitlab__list"), [rules], ASK) is ASK


def test_a_pattern_says_nothing_of_a_tool_that_is_about_nothing() -> None:
    assert judge(Subject(tool="x__y"), [[rule("x__y anything")]], ASK) is ASK
