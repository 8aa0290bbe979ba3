"""One cycle: the scenario, a death at one point, a new process, and the check."""

import shutil
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import anyio

from tests.proof.crash.administrator import leave_old_settings
from tests.proof.crash.caller import Caller
from tests.proof.crash.checker import Checker, until
from tests.proof.crash.ground import Ground
from tests.proof.crash.model import Gates, ScriptedModel
from tests.proof.crash.people import Halfway, People
from tests.proof.crash.phase import Phase, Target
from tests.proof.crash.points import read_census
from tests.proof.crash.record import ClientRecord
from tests.proof.crash.scenario import PEOPLE, Scenario
from tests.proof.crash.server import TOKEN, CrashingServer, ServerProcesses
from tests.proof.crash.server_process import Order
from tests.proof.crash.tidying import Snapshots
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


async def run_cycle(
    processes: ServerProcesses, ground: Ground, folder: Path, target: Target
) -> Outcome:
    """Kill there, start again, go on, and check."""
    armed = Order(point=target.point, passing=target.passing)
    outcome = await _play(processes, ground, folder, target.phase, armed)
    if outcome.wrong is None:
        shutil.rmtree(folder)
    return outcome


async def take_census(
    processes: ServerProcesses, ground: Ground, folder: Path, phase: Phase
) -> Counter[str]:
    """How often each point is passed in this phase if nothing kills it there."""
    path = folder / "census"
    outcome = await _play(processes, ground, folder, phase, Order(census=str(path)))
    if outcome.wrong is not None:
        raise AssertionError(f"wrong without a kill while {phase}: {outcome.wrong}")
    found = read_census(path)
    shutil.rmtree(folder)
    return found


async def _play(
    processes: ServerProcesses, ground: Ground, folder: Path, phase: Phase, last: Order
) -> Outcome:
    """Play it in this folder; what is there afterwards is left for whoever wants to look."""
    await anyio.Path(folder).mkdir(parents=True)
    leave_old_settings(folder / "data")
    env = await ground.prepare(folder)
    started = time.monotonic()
    wrong: str | None = None
    async with ModelServer() as model:
        orders = phase.orders(last)
        async with CrashingServer(
            processes, folder, model_url=model.url, orders=orders, env=env
        ) as server:
            try:
                with anyio.fail_after(CYCLE_SECONDS):
                    await _act(server, model, phase)
            except Exception as error:  # noqa: BLE001 (whatever it is, it is the report)
                wrong = server.trouble or f"{_told(error)} (in process {server.deaths + 1})"
            reached = server.crashes > 0
            # Before the server is cleared away: that death is followed by no check.
            kills = server.deaths
    if wrong is None:
        await ground.clear(env)
    seconds = time.monotonic() - started
    return Outcome(reached=reached, kills=kills, seconds=seconds, wrong=wrong)


async def _act(server: CrashingServer, model: ModelServer, phase: Phase) -> None:
    record, gates = ClientRecord(), Gates()
    model.script(ScriptedModel(gates, server.folder / "ledger"))
    async with aiohttp.ClientSession(
        headers={"Authorization": f"Bearer {TOKEN}"},
        connector=aiohttp.TCPConnector(limit=0),
        read_bufsize=1 << 22,
    ) as http:
        dying = server.kill if phase is Phase.RECOVERING else None
        halfway = Halfway(PEOPLE, then=dying)
        people = People(Caller(server, record, http), gates, server.folder, halfway)
        async with people.watching():
            await Scenario(people).play()
            await until(people.is_calm, "something is still queued or running")
            if phase is not Phase.TIDYING:
                # One more crash, in the calm: it must change nothing of what anyone has seen.
                await server.kill_and_wait()
                await Checker(server, record, model, http).check()
    if phase is Phase.TIDYING:
        await _tidy(server, Snapshots(RawApi(server.url, TOKEN)))


async def _tidy(server: CrashingServer, snapshots: Snapshots) -> None:
    await snapshots.take()
    await server.kill_and_wait()
    await until(snapshots.is_tidy, "there are still deltas to fold")
    # Whoever was to die and did not is not to die while we look.
    await server.kill_and_wait()
    await snapshots.compare()


def _told(error: BaseException) -> str:
    """The first cause, in one line or a few."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"
