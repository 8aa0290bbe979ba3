"""The page of the terminal names every flag and every exit code, and no others."""

import re

from tenuto.cli.run import command
from tenuto.terminal.exits import ExitCode
from tests.docs.page import ROOT

PAGE = (ROOT / "docs/terminal.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


def test_every_flag_of_run_is_on_the_page() -> None:
    rows = re.findall(r"^\| (`-.+?) \|", section("Flags of `run`"), re.MULTILINE)
    told = {flag for row in rows for flag in re.findall(r"`(-[\w-]+)`", row)}
    assert told == {flag for option in command.params for flag in option.opts if flag[0] == "-"}


def test_every_exit_code_is_on_the_page() -> None:
    told = re.findall(r"^\| (\d+) \|", section("Exit codes"), re.MULTILINE)
    assert [int(code) for code in told] == sorted(ExitCode)
