"""The campaign: many cycles, three at a time so that no core waits, and what came of them."""

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from tests.proof.crash.cycle import run_cycle
from tests.proof.crash.ground import Ground
from tests.proof.crash.phase import Target
from tests.proof.crash.server import ServerProcesses

AT_ONCE = int(os.environ.get("CRASH_AT_ONCE", "3"))
TRIES = 3
"""A passing that did not come in one scenario may come in the next."""


@dataclass(slots=True)
class Report:
    reached: int = 0
    kills: int = 0
    seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)
    unreached: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        total = self.reached + len(self.unreached)
        return f"{self.reached} of {total} points, {self.kills} kills, {self.seconds:.0f} s"


async def run_campaign(
    processes: ServerProcesses, ground: Ground, folder: Path, targets: Sequence[Target]
) -> Report:
    """Die at each of these; the report says what was wrong afterwards."""
    report = Report()
    started = time.monotonic()
    waiting = list(enumerate(targets))

    async def work() -> None:
        while waiting:
            number, target = waiting.pop(0)
            await _try(processes, ground, folder / f"cycle-{number}", target, report)
            done = len(targets) - len(waiting)
            if done % 25 == 0:
                _say(f"{done} of {len(targets)}, {report.kills} kills")

    async with anyio.create_task_group() as group:
        for _ in range(AT_ONCE):
            group.start_soon(work)
    report.seconds = time.monotonic() - started
    return report


async def _try(
    processes: ServerProcesses, ground: Ground, folder: Path, target: Target, report: Report
) -> None:
    for n in range(TRIES):
        place = folder / f"try-{n}"
        outcome = await run_cycle(processes, ground, place, target)
        report.kills += outcome.kills
        if outcome.wrong is not None:
            report.wrong.append(f"{target} ({place}): {outcome.wrong}")
            _say(f"WRONG {report.wrong[-1]}")
        if outcome.reached:
            report.reached += 1
            return
    report.unreached.append(str(target))
    _say(f"NOT REACHED {target}")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
