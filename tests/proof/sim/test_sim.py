"""The whole engine on the simulated loop: seeds that once failed, and thousands of new ones."""

import asyncio
import itertools
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from tests.proof.sim.explore import explore
from tests.proof.sim.loop import SimLoop, Stuck
from tests.proof.sim.schedule import play
from tests.proof.sim.script import Item, draw
from tests.proof.sim.shrink import shrink
from tests.proof.sim.violation import Violation
from tests.support.seed import seed_of

# A task that is killed before its first step leaves a coroutine that nobody awaits.
pytestmark = pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")

SEEDS = Path(__file__).parent / "seeds.txt"
SECONDS = 45.0
"""How long new schedules are played here. `make sim` goes on from there."""
FEWEST = 300
"""Fewer than this would mean that the simulation itself is broken."""


def known_seeds() -> list[int]:
    lines = SEEDS.read_text(encoding="utf-8").splitlines()
    return [int(line.split()[0]) for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("seed", known_seeds())
def test_a_seed_that_once_failed_keeps_every_promise(seed: int) -> None:
    assert play(draw(seed)).violation is None


@pytest.mark.timeout(180)
@pytest.mark.guarantee("C1", "C4", "C7", "C8", "H7", "H8", "O8", "E9", "E10", "E11")
@pytest.mark.failure(8, 18, 24, 25, 26, 41, 43)
def test_every_promise_is_kept_whatever_the_order(capsys: pytest.CaptureFixture[str]) -> None:
    first = seed_of("sim") * 1_000
    schedules = events = 0
    for told in explore(itertools.count(first), seconds=SECONDS, most=1 << 60):
        schedules += told.schedules
        events += told.events
        assert not told.failed, f"make sim SEED={told.failed[0][0]}: {told.failed[0][1]}"
    with capsys.disabled():
        sys.stdout.write(f"\nsimulation: {schedules:,} schedules, {events:,} events\n")
    assert schedules >= FEWEST


def test_a_seed_replays_exactly_in_another_process() -> None:
    here = [play(draw(seed)).digest for seed in range(20)]
    code = (
        "from tests.proof.sim.schedule import play; from tests.proof.sim.script import draw\n"
        "print([play(draw(seed)).digest for seed in range(20)])"
    )
    for hash_seed in ("1", "2"):
        said = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            cwd=SEEDS.parents[3],
            capture_output=True,
            text=True,
            check=True,
        )
        assert said.stdout.strip() == str(here)


def test_another_spin_is_another_order_of_the_same_script() -> None:
    script = replace(draw(7), width=64)
    digests = {play(replace(script, spin=spin)).digest for spin in range(5)}
    assert len(digests) > 1


def test_a_violation_is_found_and_shrunk_to_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.proof.sim.client import SimClient

    async def broken(self: SimClient) -> None:
        raise Violation("on purpose")

    monkeypatch.setattr(SimClient, "rename", broken)
    rename = Item(at=0.5, kind="rename", dice=1)
    script = draw(3)
    others = [item for item in script.items if item.kind != "rename"]
    script = replace(script, items=(*others[:3], rename, *others[3:]))
    shorter, verdict = shrink(script)
    assert verdict.violation == "on purpose"
    assert shorter.items == (rename,)


def test_a_world_in_which_nobody_can_wake_anyone_is_noticed() -> None:
    loop = SimLoop(Random(1), width=1, tick=0.0)  # type: ignore[abstract]

    async def forever() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(Stuck):
        loop.run(forever())
    for task in loop.tasks:
        task.cancel()
    loop.wind_up(10)


def test_time_passes_at_once_and_in_order() -> None:
    loop = SimLoop(Random(1), width=64, tick=0.0)  # type: ignore[abstract]
    seen: list[str] = []

    async def wait(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        seen.append(name)

    async def main() -> None:
        await asyncio.gather(wait("an hour", 3600.0), wait("a day", 86_400.0), wait("now", 0.0))

    loop.run(main())
    assert seen == ["now", "an hour", "a day"]
    assert loop.time() == 86_400.0
