"""A sample of the crash points; `make crash` dies at all of them."""

import random
import sys
from pathlib import Path

import pytest

from tests.proof.crash.campaign import run_campaign
from tests.proof.crash.ground import FileGround, Ground, PostgresGround
from tests.proof.crash.plan import make_plan, passings
from tests.proof.crash.server import ServerProcesses
from tests.support.seed import seed_of

SAMPLE = 12
POSTGRES_SAMPLE = 6


@pytest.mark.anyio
@pytest.mark.timeout(240)
@pytest.mark.guarantee("H5", "H17", "C5", "C13")
@pytest.mark.failure(6, 14, 15, 18, 19, 21, 23, 34, 41, 42)
async def test_a_server_that_dies_at_any_point_keeps_every_promise(tmp_path: Path) -> None:
    async with ServerProcesses() as processes:
        await _die_at_some(processes, FileGround(), tmp_path, SAMPLE)


@pytest.mark.anyio
@pytest.mark.timeout(240)
@pytest.mark.guarantee("H5", "H17", "C5", "C13")
async def test_a_node_on_postgresql_that_dies_at_any_point_keeps_every_promise(
    postgres_url: str, tmp_path: Path
) -> None:
    async with ServerProcesses() as processes:
        await _die_at_some(processes, PostgresGround(postgres_url), tmp_path, POSTGRES_SAMPLE)


async def _die_at_some(processes: ServerProcesses, ground: Ground, folder: Path, most: int) -> None:
    plan = await make_plan(processes, ground, folder, censuses=1)
    sample = random.Random(seed_of("crash")).sample(plan, most)
    report = await run_campaign(processes, ground, folder, sample)
    sys.stdout.write(f"{report}, of {len(plan)}\n")
    assert not report.wrong, report.wrong
    assert not report.unreached, report.unreached


def test_each_of_few_passings_is_died_at_and_of_many_the_first_and_some_to_the_end() -> None:
    assert passings(1) == [1]
    assert passings(4) == [1, 2, 3, 4]
    assert passings(100) == [1, 2, 18, 35, 70]
