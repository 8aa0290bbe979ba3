"""The plugin that judges whether every guarantee was shown."""

import shutil
from pathlib import Path

import pytest

PLUGIN = Path(__file__).parents[1] / "guarantees.py"
DOCS = {
    "guarantees.md": "- **A1** First.\n- **A2** Second.\n",
    "failures.md": "1. Lost.\n2. Later. *(comes with more)*\n",
}
BOTH_SHOWN = """
import pytest

@pytest.mark.guarantee("A1", "A2")
@pytest.mark.failure(1)
def test_both(): pass
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    shutil.copy(PLUGIN, pytester.path / "judge.py")
    pytester.makeconftest('pytest_plugins = ["judge"]')
    docs = pytester.mkdir("docs")
    for name, text in DOCS.items():
        (docs / name).write_text(text)
    pytester.makeini("[pytest]\nmarkers =\n  guarantee: x\n  failure: x\n")
    return pytester


def run(project: pytest.Pytester, tests: str, *options: str) -> tuple[int, str]:
    project.makepyfile(tests)
    result = project.runpytest_subprocess("-p", "no:cacheprovider", *options)
    return int(result.ret), result.stdout.str()


def test_all_shown_passes_and_prints_the_table(project: pytest.Pytester) -> None:
    code, text = run(project, BOTH_SHOWN, "--guarantees")
    assert code == 0
    assert "  A1   1 passed  First." in text
    assert "   1   1 passed  Lost." in text
    assert "   2   0 no test Later. (comes with more)" in text
    assert "2 of 2 shown" in text


def test_a_number_without_a_test_fails(project: pytest.Pytester) -> None:
    code, text = run(project, BOTH_SHOWN.replace(', "A2"', ""), "--guarantees")
    assert code == 1
    assert "guarantee A2 has no test" in text


@pytest.mark.parametrize("body", ["assert False", "pytest.skip()", "pytest.xfail()"])
def test_a_number_whose_test_did_not_pass_fails(project: pytest.Pytester, body: str) -> None:
    code, text = run(project, BOTH_SHOWN.replace("pass", body), "--guarantees")
    assert code == 1
    assert "  A1   1 FAILED  First." in text


def test_a_test_that_fails_while_it_cleans_up_shows_nothing(project: pytest.Pytester) -> None:
    tests = BOTH_SHOWN.replace("test_both()", "test_both(bad)") + (
        "\n@pytest.fixture\ndef bad():\n    yield\n    assert False\n"
    )
    code, text = run(project, tests, "--guarantees")
    assert code == 1
    assert "  A1   1 FAILED  First." in text


def test_an_unknown_number_fails(project: pytest.Pytester) -> None:
    code, text = run(project, BOTH_SHOWN.replace('"A2"', '"A2", "Z9"'), "--guarantees")
    assert code == 1
    assert "names guarantee Z9, which is not in docs/" in text


def test_without_the_option_it_stays_quiet(project: pytest.Pytester) -> None:
    code, text = run(project, BOTH_SHOWN.replace(', "A2"', ""))
    assert code == 0
    assert "guarantees" not in text


def test_tests_that_run_in_several_processes_are_judged_together(project: pytest.Pytester) -> None:
    tests = (
        BOTH_SHOWN.replace(', "A2"', "") + '\n@pytest.mark.guarantee("A2")\ndef test_b(): pass\n'
    )
    code, text = run(project, tests, "--guarantees", "-n", "2")
    assert code == 0
    assert "2 of 2 shown" in text
    code, text = run(
        project, tests.replace("test_b(): pass", "test_b(): 1 / 0"), "--guarantees", "-n2"
    )
    assert code == 1
    assert "  A2   1 FAILED  Second." in text
