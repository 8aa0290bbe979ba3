"""Long runs: they can be stopped and go on, and they leave the process as it was."""

import asyncio
import logging
from itertools import count
from pathlib import Path

import anyio._core._eventloop as anyio_library
import pytest
from anyio._backends._asyncio import CancelScope

from tenuto.storage.memory import store as memory
from tests.proof.sim.__main__ import main
from tests.proof.sim.explore import explore
from tests.proof.sim.schedule import play
from tests.proof.sim.script import draw
from tests.proof.sim.tally import Progress, Tally, read_progress

pytestmark = pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")


def test_a_recorded_run_goes_on_where_it_was_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.json"
    assert main(["--first", "5", "--most", "4", "--record", str(file)]) == 0
    assert main(["--most", "10", "--record", str(file)]) == 0
    whole = Tally()
    for told in explore(count(5), seconds=60.0, most=10):
        whole.add(told)
    record = read_progress(file, first=0)
    assert (record.next_seed, record.done) == (15, whole)
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(f"10 schedules, {whole.events} events, {whole.crashes} crashes, no ")


def test_a_finished_record_plays_nothing_more(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    for _ in range(2):
        assert main(["--first", "5", "--most", "3", "--record", str(file)]) == 0
    assert read_progress(file, first=0).done.schedules == 3


def test_a_violation_stays_in_the_record() -> None:
    record = Progress(next_seed=7)
    record.add(Tally(schedules=2, failed=[(8, "a promise")]), 1.0)
    record.add(Tally(schedules=1), 1.0)
    assert record.sentence() == "3 schedules, 0 events, 0 crashes, 1 violation, 2 seconds"
    assert record.done.failed == [(8, "a promise")]


def test_what_is_changed_for_a_schedule_is_as_before_after_it() -> None:
    def seen() -> list[object]:
        logger = logging.getLogger("tenuto")
        return [
            CancelScope.__hash__,
            anyio_library.current_async_library,
            vars(memory)["checkpoint"],
            logger.level,
            logger.propagate,
            list(logger.handlers),
        ]

    async def listed() -> bool:
        return asyncio.current_task() in asyncio.all_tasks()

    before = seen()
    assert play(draw(1)).violation is None
    assert seen() == before
    assert asyncio.run(listed())
