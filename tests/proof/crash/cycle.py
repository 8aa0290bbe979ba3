"""One cycle: the scenario, a death at one point, new lives, and the check."""

import shutil
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import anyio

from tests.proof.crash.caller import Caller
from tests.proof.crash.checker import Checker, until
from tests.proof.crash.company import Company, Halfway
from tests.proof.crash.lives import TOKEN, Hatchery, Lives
from tests.proof.crash.model import Gates, Oracle
from tests.proof.crash.points import read_census
from tests.proof.crash.record import Record
from tests.proof.crash.scenario import PEOPLE, Scenario
from tests.proof.crash.server_process import Order
from tests.proof.crash.stage import Stage, Target
from tests.proof.crash.tidy import Album
from tests.support.model_server import ModelServer
from tests.support.raw import RawApi

CYCLE_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    reached: bool
    kills: int
    seconds: float
    wrong: str | None
    """What the checker found; None: the contract holds."""


async def run_cycle(hatchery: Hatchery, folder: Path, target: Target) -> Outcome:
    """Kill there, start again, go on, and check."""
    armed = Order(point=target.point, passing=target.passing)
    outcome = await _play(hatchery, folder, target.stage, armed)
    if outcome.wrong is None:
        shutil.rmtree(folder)
    return outcome


async def take_census(hatchery: Hatchery, folder: Path, stage: Stage) -> Counter[str]:
    """How often each point is passed in this stage if nothing kills it there."""
    path = folder / "census"
    outcome = await _play(hatchery, folder, stage, Order(census=str(path)))
    if outcome.wrong is not None:
        raise AssertionError(f"wrong without a kill while {stage}: {outcome.wrong}")
    found = read_census(path)
    shutil.rmtree(folder)
    return found


async def _play(hatchery: Hatchery, folder: Path, stage: Stage, last: Order) -> Outcome:
    """Play it in this folder; what is there afterwards is left for whoever wants to look."""
    await anyio.Path(folder).mkdir(parents=True)
    started = time.monotonic()
    wrong: str | None = None
    async with ModelServer() as model:
        orders = stage.orders(last)
        async with Lives(hatchery, folder, model_url=model.url, orders=orders) as lives:
            try:
                with anyio.fail_after(CYCLE_SECONDS):
                    await _act(lives, model, stage)
            except Exception as error:  # noqa: BLE001 (whatever it is, it is the report)
                wrong = lives.trouble or f"{_told(error)} (in life {lives.deaths + 1})"
            reached = lives.crashes > 0
            # Before the server is cleared away: that death is followed by no check.
            kills = lives.deaths
    seconds = time.monotonic() - started
    return Outcome(reached=reached, kills=kills, seconds=seconds, wrong=wrong)


async def _act(lives: Lives, model: ModelServer, stage: Stage) -> None:
    record, gates = Record(), Gates()
    model.script(Oracle(gates, lives.folder / "ledger"))
    async with aiohttp.ClientSession(
        headers={"Authorization": f"Bearer {TOKEN}"},
        connector=aiohttp.TCPConnector(limit=0),
        read_bufsize=1 << 22,
    ) as http:
        dying = lives.kill if stage is Stage.RECOVERING else None
        halfway = Halfway(PEOPLE, then=dying)
        company = Company(Caller(lives, record, http), gates, lives.folder, halfway)
        async with company.watching():
            await Scenario(company).play()
            await until(company.is_calm, "something is still queued or running")
            if stage is not Stage.TIDYING:
                # One more crash, in the calm: it must change nothing of what anyone has seen.
                await lives.kill_and_wait()
                await Checker(lives, record, model, http).check()
    if stage is Stage.TIDYING:
        await _tidy(lives, Album(RawApi(lives.url, TOKEN)))


async def _tidy(lives: Lives, album: Album) -> None:
    await album.take()
    await lives.kill_and_wait()
    await until(album.is_tidy, "there are still deltas to fold")
    # Whoever was to die and did not is not to die while we look.
    await lives.kill_and_wait()
    await album.compare()


def _told(error: BaseException) -> str:
    """The first cause, in one line or a few."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"
