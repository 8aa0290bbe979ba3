"""Five hundred cancels raced against the 202."""

import itertools
from random import Random

import anyio
import pytest

from tenuto.client import Client, RunHandle, SessionHandle
from tenuto.core.run import WhenBusy
from tests.support.log import assert_settled
from tests.support.model_server import Exchange, ModelServer
from tests.support.raw import RawApi
from tests.support.seed import seed_of
from tests.support.talk import all_of, new_sessions
from tests.support.watch import outline, until

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

SESSIONS = 25
RACES = 20
LONGEST_HEAD_START_SECONDS = 0.010


async def mumble(exchange: Exchange) -> None:
    """Would stream slowly for ever."""
    for n in itertools.count():
        await exchange.text(f"{n} ")
        await anyio.sleep(0.02)


@pytest.mark.guarantee("C10", "C6", "C1")
@pytest.mark.failure(1, 18, 24, 33, 38)
async def test_of_500_cancels_raced_against_the_202_none_is_lost(
    model: ModelServer, raw: RawApi, tenuto: Client
) -> None:
    seed = seed_of("cancel race")
    model.script(mumble)
    sessions = await new_sessions(tenuto, SESSIONS)
    raced: dict[str, list[RunHandle]] = {session.id: [] for session in sessions}
    async with anyio.create_task_group() as group:
        for n, session in enumerate(sessions):
            group.start_soon(_race, session, Random(seed + n), raced[session.id])
    assert sum(len(runs) for runs in raced.values()) >= SESSIONS * RACES
    for session in sessions:
        await _check(raw, session, raced[session.id])
    # Not one of the requests ran to its end, and none is still open.
    await until(all_of(lambda exchange: exchange.ended != "open", model))
    assert {exchange.ended for exchange in model.exchanges} <= {"closed by client"}
    assert model.counts["finished"] == 0


async def _race(session: SessionHandle, random: Random, raced: list[RunHandle]) -> None:
    for n in range(RACES):
        runs = [await session.prompt(f"prompt {n}")]
        if random.random() < 0.3:
            when = random.choice([WhenBusy.QUEUE, WhenBusy.STEER])
            runs.append(await session.prompt(f"prompt {n}, second", when_busy=when))
        raced += runs
        await anyio.sleep(random.choice([0.0, random.uniform(0, LONGEST_HEAD_START_SECONDS)]))
        async with anyio.create_task_group() as group:
            group.start_soon(_cancel, session, runs, random.choice(["session", "runs"]))
            for _ in range(random.choice([0, 0, 1, 3])):
                group.start_soon(_cancel, session, runs, random.choice(["session", "runs"]))


async def _cancel(session: SessionHandle, runs: list[RunHandle], by: str) -> None:
    """When a cancel has answered, what it covers has ended as cancelled."""
    if by == "session":
        answer = await session.cancel()
        assert answer.settled, f"not settled within its time: {answer}"
    else:
        for run in reversed(runs):
            assert (await run.cancel()).status == "cancelled"
    for run in runs:
        ended = await run.get()
        assert (ended.status, ended.reason, ended.error) == ("cancelled", "user", None), ended


async def _check(raw: RawApi, session: SessionHandle, runs: list[RunHandle]) -> None:
    # Settled: every run has exactly one ending, every message one finish, nothing says running.
    events = await assert_settled(raw, session.id)
    finished = {e["run_id"]: e["run"] for e in events if e["type"] == "run.finished"}
    assert finished.keys() == {run.id for run in runs}
    assert {(run["status"], run["reason"]) for run in finished.values()} == {("cancelled", "user")}
    messages = (await session.messages()).messages
    users = [message for message in messages if message.role == "user"]
    assert [message.run_id for message in users] == [run.id for run in runs]
    prompts = [event["run"]["input"] for event in events if event["type"] == "run.accepted"]
    assert [text for _, text, _ in outline(tuple(users))] == prompts
    answers = [message for message in messages if message.role == "assistant"]
    assert [message.run_id for message in answers] == [run.id for run in runs]
    assert {message.finish_reason for message in answers} == {"cancelled"}
