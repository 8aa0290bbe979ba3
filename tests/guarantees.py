"""A pytest plugin: `--guarantees` prints which promises the tests of this run have shown.

Without the option it does nothing, so that a part of the tests can be run by hand.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

GUARANTEE_LINE = re.compile(r"^- \*\*(?P<number>[A-Z]+\d+)\*\* (?P<sentence>.+)$", re.MULTILINE)
FAILURE_LINE = re.compile(
    r"^(?P<number>\d+)\. (?P<sentence>.+?)(?: \*\((?P<later>[^)]+)\)\*)?$", re.MULTILINE
)

LINE = "line of docs"
"""What a report calls the lines that its test names."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--guarantees",
        action="store_true",
        help="print the table of guarantees, and fail if one was not shown",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test carries its lines along: it may run in another process than the one that judges."""
    for item in items:
        lines = {f"{kind} {number}" for kind, number in _named_by(item)}
        item.user_properties += [(LINE, line) for line in sorted(lines)]


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--guarantees") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Table(config.rootpath / "docs"), "guarantees-table")


@dataclass(frozen=True)
class DocumentLine:
    """A numbered line of a document."""

    number: str
    sentence: str
    later: str | None = None
    """What it comes with, for a failure that this version has no part for."""


@dataclass
class LineTally:
    """The tests that name one line."""

    tests: set[str] = field(default_factory=set)
    unshown: set[str] = field(default_factory=set)
    """Those that failed, were skipped or did not run."""

    @property
    def shown(self) -> bool:
        return bool(self.tests) and not self.unshown


class Table:
    """Counts marks and outcomes; judges when the session ends."""

    def __init__(self, docs: Path) -> None:
        self._lines = {
            "guarantee": read_lines(docs / "guarantees.md", GUARANTEE_LINE),
            "failure": read_lines(docs / "failures.md", FAILURE_LINE),
        }
        self._tallies: dict[tuple[str, str], LineTally] = defaultdict(LineTally)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name in (value for key, value in report.user_properties if key == LINE):
            kind, number = str(name).split(" ")
            tally = self._tallies[kind, number]
            if report.nodeid not in tally.tests:
                tally.tests.add(report.nodeid)
                tally.unshown.add(report.nodeid)
            if report.when == "call" and report.passed:
                tally.unshown.discard(report.nodeid)
            elif not report.passed:
                tally.unshown.add(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._complaints() and session.exitstatus in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("guarantees")
        for line in self._rows("guarantee"):
            terminalreporter.write_line(line)
        terminalreporter.section("ways to fail")
        for line in self._rows("failure"):
            terminalreporter.write_line(line)
        for complaint in self._complaints():
            terminalreporter.write_line(complaint, red=True)

    def _rows(self, kind: str) -> Iterator[str]:
        lines = self._lines[kind].values()
        shown = 0
        for line in lines:
            tally = self._tallies[kind, line.number]
            shown += tally.shown
            yield f"{line.number:>4} {len(tally.tests):>3} {_verdict(tally):7} {_told(line)}"
        yield f"{shown} of {len(lines)} shown by tests that passed"

    def _complaints(self) -> list[str]:
        unknown = [
            f"{test} names {kind} {number}, which is not in docs/"
            for (kind, number), tally in sorted(self._tallies.items())
            if number not in self._lines[kind]
            for test in sorted(tally.tests)
        ]
        missing = [
            f"guarantee {number} has no test that passed"
            if not self._tallies["guarantee", number].tests
            else f"guarantee {number} has a test that did not pass"
            for number in self._lines["guarantee"]
            if not self._tallies["guarantee", number].shown
        ]
        return unknown + missing


def read_lines(path: Path, pattern: re.Pattern[str]) -> Mapping[str, DocumentLine]:
    """The numbered lines of a document, in its order."""
    found = pattern.finditer(path.read_text(encoding="utf-8"))
    return {match["number"]: DocumentLine(**match.groupdict()) for match in found}


def _named_by(item: pytest.Item) -> Iterable[tuple[str, str]]:
    for kind in ("guarantee", "failure"):
        for mark in item.iter_markers(kind):
            yield from ((kind, str(number)) for number in mark.args)


def _verdict(tally: LineTally) -> str:
    if tally.tests:
        return "passed" if tally.shown else "FAILED"
    return "no test"


def _told(line: DocumentLine) -> str:
    return f"{line.sentence} ({line.later})" if line.later else line.sentence
