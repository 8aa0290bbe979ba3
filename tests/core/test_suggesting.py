"""What is offered to be allowed from now on: never more than a person would mean."""

import pytest

from tenuto.core.rule import Subject, about_command, about_host, about_path
from tenuto.core.suggesting import suggestions


@pytest.mark.parametrize(
    ("line", "patterns"),
    [
        ("git status -s", ["git status -s", "git status *"]),
        ("git -C x status", ["git -C x status"]),
        ("make test", ["make test", "make test *"]),
        ("ls -la src", ["ls -la src", "ls *"]),
        ("rm -rf build", ["rm -rf build"]),
        ("curl http://x", ["curl http://x"]),
        ("python -m pytest -q", ["python -m pytest -q", "python -m pytest *"]),
        ("python3 setup.py", ["python3 setup.py"]),
        ("make", ["make"]),
        ("echo 'a b'", ["echo *"]),
        ("rm 'a b'", []),
        ("git status && npm test", ["git status", "git status *", "npm test", "npm test *"]),
        ("git log | head", ["git log", "git log *", "head", "head *"]),
        ("echo $(rm x)", []),
        ("sudo ls", []),
        ("bash x.sh", []),
    ],
)
def test_commands_are_offered_as_they_are_and_by_what_they_do(
    line: str, patterns: list[str]
) -> None:
    assert [one.pattern for one in suggestions(about_command("shell", line))] == patterns


def test_files_are_offered_alone_and_with_their_folder() -> None:
    offered = suggestions(about_path("write_file", "src/deep/a.py"))
    assert [(one.pattern, one.about) for one in offered] == [
        ("./src/deep/a.py", "only: src/deep/a.py"),
        ("src/deep/**", "every file in src/deep/"),
    ]
    assert [one.pattern for one in suggestions(about_path("edit_file", "a.py"))] == ["./a.py", "**"]
    assert suggestions(about_path("edit_file", "odd*name")) == ()


def test_hosts_are_offered_by_name_and_other_tools_not_at_all() -> None:
    offered = suggestions(about_host("fetch_url", "docs.example.org"))
    assert [one.pattern for one in offered] == ["docs.example.org"]
    assert suggestions(Subject(tool="x__y")) == ()
