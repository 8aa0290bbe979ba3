"""The checker accepts a good history, and refuses each kind of bad one by the right rule."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.oracle.rule import Rule
from tests.proof.history import cause, claim, evidence, order, session_history
from tests.proof.history.checker import check, tell
from tests.proof.history.record import Answer, Record, Unreadable
from tests.proof.history.sample import SampleHistory
from tests.proof.history.spoil import SPOILT_LOGS, SPOILT_STREAMS, Spoil, rewound, told, watched


def broken_by(sample: SampleHistory) -> set[str]:
    return check(sample.told()).findings.broken()


def test_a_good_history_is_accepted() -> None:
    sample = told()
    rewound(sample)
    verdict = check(watched(sample).told())
    assert verdict.findings.violations == []
    assert verdict.summary["runs"] == 4
    assert verdict.summary["kills"] == 1
    assert verdict.summary["events seen"] == 2 * len(sample.log) - 4


@pytest.mark.parametrize(("spoil", "rule"), SPOILT_LOGS)
def test_a_spoilt_history_is_refused_by_its_rule(spoil: Spoil, rule: str) -> None:
    sample = told()
    spoil(sample)
    assert rule in broken_by(watched(sample))


@pytest.mark.parametrize(("spoil", "rule"), SPOILT_STREAMS)
def test_a_spoilt_stream_is_refused_by_its_rule(spoil: Spoil, rule: str) -> None:
    sample = watched(told())
    spoil(sample)
    assert rule in broken_by(sample)


def test_an_undo_that_was_answered_before_a_prompt_is_before_it() -> None:
    sample = told()
    sent = sample.tick()
    answered = sample.tick()
    sample.prompt("run_5")
    sample.start("run_5")
    sample.finish("run_5")
    rewound(sample, sent=sent)
    late = next(e for e in sample.entries if isinstance(e, Answer) and e.id == "undo")
    late.at = answered
    assert order.AFTER in broken_by(watched(sample))


def test_every_rule_has_a_history_that_breaks_it() -> None:
    modules = (session_history, claim, cause, evidence, order)
    rules = {
        value
        for module in modules
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, str)
    }
    spoilt = {rule for _, rule in SPOILT_LOGS + SPOILT_STREAMS}
    # The contract's own rules are broken one by one in tests/oracle; one shows that they are asked.
    assert rules - {session_history.CONTRACT} == spoilt - set(Rule)
    assert Rule.IN_ORDER in spoilt


def test_a_file_is_checked_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = watched(told())
    path = tmp_path / "record.jsonl"
    record = Record(path)
    for entry in sample.told():
        record.write(entry)
    record.close()
    assert tell(path) == 0
    assert "history accepted" in capsys.readouterr().out


def test_what_is_not_a_record_is_refused() -> None:
    with pytest.raises(Unreadable):
        check([])


def test_the_checker_knows_nothing_of_the_server() -> None:
    code = (
        "import sys, tests.proof.history.checker; print([m for m in sys.modules if 'tenuto' in m])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[]"
