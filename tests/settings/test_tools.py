"""What the file says of tools: rules, and the sandbox."""

from pathlib import Path

from tests.settings.test_config import complaints, settings


def test_rules_are_written_in_the_file_in_their_order(tmp_path: Path) -> None:
    file = """
[[rules]]
tool = "shell"
pattern = "git *"
decision = "allow"

[[rules]]
tool = "write_*"
decision = "deny"
"""
    assert [(r.tool, r.pattern, r.decision) for r in settings(tmp_path, file=file).rules] == [
        ("shell", "git *", "allow"),
        ("write_*", None, "deny"),
    ]


def test_a_wrong_rule_says_what_is_wrong(tmp_path: Path) -> None:
    file = '[[rules]]\ntool = "shell"\ndecision = "perhaps"\npatern = "x"\n'
    assert complaints(tmp_path, file=file) == [
        "rules[1].patern (tenuto.toml): no such setting; did you mean rules[1].pattern?",
        "rules[1].decision = 'perhaps' (tenuto.toml): must be one of ask, allow, deny",
    ]


def test_folders_that_commands_may_write_in_start_at_the_file(tmp_path: Path) -> None:
    made = settings(tmp_path, file='[tools]\nsandbox = "on"\nwritable = ["x", "~/y"]')
    assert made.tools.sandbox == "on"
    assert made.tools.writable == (tmp_path / "x", tmp_path / "home" / "y")
