"""A pytest plugin for the bench: names the tests that fail, one on a line, in a file."""

import os
from pathlib import Path

import pytest

WHERE = "TENUTO_MUTATION_FAILED"


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        _tell(report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        _tell(report.nodeid)


def _tell(test: str) -> None:
    with Path(os.environ[WHERE]).open("a", encoding="utf-8") as file:
        file.write(test + "\n")
