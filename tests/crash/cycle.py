"""One cycle: the scenario, a death at one point, new lives, and the check."""

import shutil
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import anyio

from tests.crash.caller import Caller
from tests.crash.checker import Checker, until
from tests.crash.lives import TOKEN, Hatchery, Lives
from tests.crash.model import Gates, Oracle
from tests.crash.points import read_census
from tests.crash.record import Record
from tests.crash.scenario import Scenario
from tests.crash.server_process import Order
from tests.support.model_server import ModelServer
from tests.support.raw import RawApi

CYCLE_SECONDS = 50.0
FIRST_DEATH = ("told: parts", 40)
"""Where the first life ends when it is the second that matters: much is queued and running."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Target:
    """Where the server is to die: in its first life, or in the one that follows a crash."""

    life: int
    point: str
    passing: int

    def __str__(self) -> str:
        return f"life {self.life}, {self.point!r}, passing {self.passing}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    reached: bool
    kills: int
    seconds: float
    wrong: str | None
    """What the checker found; None: the contract holds."""


async def run_cycle(hatchery: Hatchery, folder: Path, target: Target) -> Outcome:
    """Kill there, start again, go on, and check."""
    orders = [_order(*FIRST_DEATH)] if target.life == 2 else []
    orders.append(_order(target.point, target.passing))
    outcome = await _play(hatchery, folder, orders, expected=target.life)
    if outcome.wrong is None:
        shutil.rmtree(folder)
    return outcome


async def take_census(hatchery: Hatchery, folder: Path, *, life: int) -> Counter[str]:
    """How often each point is passed in this life if nothing kills it there."""
    path = folder / "census"
    orders = [_order(*FIRST_DEATH)] if life == 2 else []
    orders.append(Order(folder="", port=0, env={}, census=str(path)))
    outcome = await _play(hatchery, folder, orders, expected=life - 1)
    if outcome.wrong is not None:
        raise AssertionError(f"wrong without a kill in life {life}: {outcome.wrong}")
    found = read_census(path)
    shutil.rmtree(folder)
    return found


def _order(point: str, passing: int) -> Order:
    return Order(folder="", port=0, env={}, point=point, passing=passing)


async def _play(
    hatchery: Hatchery, folder: Path, orders: Sequence[Order], *, expected: int
) -> Outcome:
    """Play it in this folder; what is there afterwards is left for whoever wants to look."""
    await anyio.Path(folder).mkdir(parents=True)
    started = time.monotonic()
    gates, record = Gates(), Record()
    wrong: str | None = None
    async with ModelServer() as model:
        model.script(Oracle(gates, folder / "ledger"))
        async with Lives(hatchery, folder, model_url=model.url, orders=orders) as lives:
            try:
                with anyio.fail_after(CYCLE_SECONDS):
                    await _scenario(lives, record, gates, model)
            except Exception as error:  # noqa: BLE001 (whatever it is, it is the report)
                wrong = lives.trouble or f"{_told(error)} (in life {lives.deaths + 1})"
            reached = lives.crashes >= expected
    return Outcome(
        reached=reached, kills=lives.deaths, seconds=time.monotonic() - started, wrong=wrong
    )


async def _scenario(lives: Lives, record: Record, gates: Gates, model: ModelServer) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with aiohttp.ClientSession(
        headers=headers, connector=aiohttp.TCPConnector(limit=0), read_bufsize=1 << 22
    ) as http:
        scenario = Scenario(Caller(lives, record, http), gates, lives.folder)
        checker = Checker(RawApi(lives.url, TOKEN), record, folder=lives.folder, model=model)
        async with scenario.watching():
            await scenario.play()
            await until(scenario.is_calm, "something is still queued or running")
            # One more crash, in the calm: it must change nothing of what anyone has seen.
            await lives.kill_and_wait()
            await checker.check()


def _told(error: BaseException) -> str:
    """The first cause, in one line or a few."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"
