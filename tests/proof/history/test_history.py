"""A short history under the nemesis is accepted. `make history` makes long ones."""

import re
import sys
from pathlib import Path

import pytest

from tests.proof.history.checker import check
from tests.proof.history.drive import Plan, make_history
from tests.proof.history.record import Entry, parse, read
from tests.support.postgres import NoPostgres

pytestmark = pytest.mark.anyio

PAGE = Path(__file__).parents[3] / "docs" / "history-format.md"


@pytest.mark.timeout(150)
@pytest.mark.guarantee("O8", "C5", "C9", "C13", "H5", "H17")
@pytest.mark.failure(6, 14, 15, 18, 19, 21, 23)
async def test_a_history_under_the_nemesis_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    await make_history(path, Plan(seed=1, seconds=12, sessions=3))
    verdict = check(read(path))
    sys.stdout.write(f"{verdict.summary}\n")
    assert verdict.findings.violations == []
    # One in which too little happened would have shown nothing.
    assert verdict.summary["kills"] >= 1
    assert verdict.summary["runs completed"] >= 1
    assert verdict.summary["events seen"] >= 2_000


@pytest.mark.timeout(150)
@pytest.mark.guarantee("E9", "E10", "E11")
async def test_a_history_of_three_nodes_under_the_nemesis_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    try:
        await make_history(path, Plan(seed=1, seconds=15, sessions=2, nodes=3))
    except NoPostgres as why:
        pytest.skip(f"SKIPPED: no PostgreSQL for the tests: {why}")
    verdict = check(read(path))
    sys.stdout.write(f"{verdict.summary}\n")
    assert verdict.findings.violations == []
    assert verdict.summary["kills"] >= 1
    assert verdict.summary["runs completed"] >= 1
    assert verdict.summary["events seen"] >= 1_000


def test_the_example_on_the_page_can_be_read() -> None:
    example = re.findall(r"^\{.*\}$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    kinds = [type(parse(line.encode())) for line in example]
    assert [kind.__struct_config__.tag for kind in kinds] == [
        "request",
        "answer",
        "open",
        "event",
        "nemesis",
    ]


def test_the_page_names_every_field() -> None:
    page = PAGE.read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", page, re.MULTILINE))
    for kind in Entry.__args__:
        fields = [f"`{name}`" for name in kind.__struct_encode_fields__]
        row = rows[kind.__struct_config__.tag]
        assert not [name for name in fields if name not in row]
