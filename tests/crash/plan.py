"""The plan: at which passings of which points the server is to die."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tenuto.api import routes
from tenuto.ports.points import Step
from tests.crash.cycle import Target, take_census
from tests.crash.lives import Hatchery

LIVES = (1, 2)
FEW = 4
"""A point that is passed no more often than this is died at each time."""
SURE = 0.8
"""Two scenarios are never quite the same: of many passings, the last ones may not come again."""
SHARES = (0.25, 0.5, 1.0)
ANSWERS = (Step.ANSWERING, Step.ANSWER_BEGUN, Step.ANSWERED)


async def make_plan(hatchery: Hatchery, folder: Path, *, censuses: int) -> list[Target]:
    """Every point of every life. Raises AssertionError if there is one that is never reached."""
    targets: list[Target] = []
    names: set[str] = set()
    for life in LIVES:
        counts = [
            await take_census(hatchery, folder / f"census-{life}-{n}", life=life)
            for n in range(censuses)
        ]
        names |= set().union(*counts)
        targets += _targets(life, counts)
    missing = _declared() - names
    assert not missing, f"points that are never reached: {sorted(missing)}"
    return targets


def _targets(life: int, counts: Sequence[Counter[str]]) -> list[Target]:
    everywhere = set(counts[0]).intersection(*counts)
    return [
        Target(life=life, point=point, passing=passing)
        for point in sorted(everywhere)
        for passing in passings(min(count[point] for count in counts))
    ]


def passings(count: int) -> list[int]:
    """Which of so many passings to die at: each of a few; of many the first, the last, and some
    between."""
    if count <= FEW:
        return list(range(1, count + 1))
    sure = max(FEW, int(count * SURE))
    return sorted({1, 2, *(max(1, round(sure * share)) for share in SHARES)})


def _declared() -> set[str]:
    """What the code names by itself: its steps, and the answers to all that changes something."""
    answers = {
        f"{step}: {endpoint.method} {endpoint.path}"
        for endpoint in routes.ALL
        if endpoint.method != "GET"
        for step in ANSWERS
    }
    alone = {str(step) for step in Step} - {step for step in Step if step in _WITH_MORE}
    return answers | alone


_WITH_MORE = {
    *ANSWERS,
    Step.COMMITTING,
    Step.COMMITTED,
    Step.TELLING,
    Step.TOLD,
    Step.TOOL_STARTING,
    Step.TOOL_ENDED,
    Step.SHOWING,
    Step.SHOWN,
}
"""Steps that always say what they are about."""
