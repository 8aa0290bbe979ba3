"""The plan: at which passings of which points the server is to die."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import anyio

from tenuto.api import routes
from tenuto.ports.points import Step
from tests.proof.crash.cycle import take_census
from tests.proof.crash.ground import Ground, Kind
from tests.proof.crash.phase import Phase, Target
from tests.proof.crash.server import ServerProcesses

FEW = 4
"""A point that is passed no more often than this is died at each time."""
SURE = 0.7
"""Two scenarios are never quite the same: of many passings, the last ones may not come again."""
SHARES = (0.25, 0.5, 1.0)
BY_THE_CLOCK = {str(Step.LEASING), str(Step.LEASED)}
"""However often a beat comes in a scenario, only the first is sure to come again."""
ANSWERS = (Step.ANSWERING, Step.ANSWER_BEGUN, Step.ANSWERED)


async def make_plan(
    processes: ServerProcesses, ground: Ground, folder: Path, *, censuses: int
) -> list[Target]:
    """Every point of every phase. Raises AssertionError if there is one that is never reached."""
    targets: list[Target] = []
    names: set[str] = set()
    for phase in Phase:
        counts = await _count(processes, ground, folder, phase, censuses)
        names |= set().union(*counts)
        targets += _targets(phase, counts)
    missing = _never_reached(names, ground.kind)
    assert not missing, f"points that are never reached: {missing}"
    return targets


async def _count(
    processes: ServerProcesses, ground: Ground, folder: Path, phase: Phase, censuses: int
) -> list[Counter[str]]:
    """So many censuses, all at once: servers do not die alone either."""
    counts: list[Counter[str]] = []

    async def count(place: Path) -> None:
        counts.append(await take_census(processes, ground, place, phase))

    async with anyio.create_task_group() as group:
        for n in range(censuses):
            group.start_soon(count, folder / f"census-{phase}-{n}")
    return counts


def _targets(phase: Phase, counts: Sequence[Counter[str]]) -> list[Target]:
    everywhere = set(counts[0]).intersection(*counts)
    return [
        Target(phase=phase, point=point, passing=passing)
        for point in sorted(everywhere)
        for passing in passings(
            1 if point in BY_THE_CLOCK else min(count[point] for count in counts)
        )
    ]


def passings(count: int) -> list[int]:
    """Which of so many passings to die at: each of a few; of many the first, the last, and some
    between."""
    if count <= FEW:
        return list(range(1, count + 1))
    sure = max(FEW, int(count * SURE))
    return sorted({1, 2, *(max(1, round(sure * share)) for share in SHARES)})


def _never_reached(names: set[str], kind: Kind) -> list[str]:
    """Of what the code declares: each step, and the answers to all that changes something."""
    answers = {
        f"{step}: {endpoint.method} {endpoint.path}"
        for endpoint in routes.ALL
        if endpoint.method != "GET"
        for step in ANSWERS
    }
    there = set(Step) - kind.without
    steps = {str(step) for step in there} - {name.partition(": ")[0] for name in names}
    return sorted(steps | (answers - names))
