"""Usage by day, in a file that is older than the table of it."""

from pathlib import Path

import apsw
import pytest

from tenuto.core.run import Ending, Reason, RunStatus, Usage
from tests.conformance.driven import DrivenSession, make_workspace
from tests.storage.conftest import opened
from tests.storage.test_files import make_older

pytestmark = pytest.mark.anyio

DAY = "2030-01-01"
BEFORE_THE_BILL = 2


def ended(tokens: int, cost: float | None, *, exact: bool = True) -> Ending:
    usage = Usage(input_tokens=tokens, output_tokens=tokens, exact=exact, cost_usd=cost)
    return Ending(status=RunStatus.COMPLETED, reason=Reason.END_TURN, usage=usage)


async def test_an_older_file_gets_its_usage_from_its_runs(path: Path) -> None:
    async with opened(path) as store:
        await make_workspace(store)
        driven = await DrivenSession.begin(store)
        for end in (ended(10, 0.5), ended(5, None), ended(1, 0.25, exact=False)):
            await driven.accept("hello")
            await driven.start()
            await driven.settle(end)
        waiting = await driven.accept("never ran")
        await driven.withdraw(waiting.id)
        await driven.accept("runs")
        await driven.start()
        before = list(await store.usage(since=DAY))
    assert [(one.runs, one.input_tokens, one.cost_usd) for one in before] == [(3, 16, 0.75)]
    make_older(path)
    connection = apsw.Connection(str(path))
    connection.execute("DROP TABLE usage")
    connection.execute(f"PRAGMA user_version = {BEFORE_THE_BILL}")
    connection.close()
    async with opened(path) as store:
        assert list(await store.usage(since=DAY)) == before


async def test_sums_that_an_old_version_let_outgrow_everything_refuse_no_later_run(
    path: Path,
) -> None:
    async with opened(path) as store:
        await make_workspace(store)
        driven = await DrivenSession.begin(store)
        await driven.accept("hello")
        await driven.start()
        await driven.settle(ended(1, None))
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE usage SET input_tokens = 9223372036854775807")
    connection.close()
    async with opened(path) as store:
        driven = await DrivenSession.begin(store, "two")
        await driven.accept("hello")
        await driven.start()
        assert (await driven.settle(ended(10, None))).status == "completed"
        (used,) = await store.usage(since=DAY)
    assert (used.runs, used.input_tokens, used.output_tokens) == (2, 2**53, 11)


@pytest.mark.parametrize("tokens", [2**63, 2**70, -(2**70)])
async def test_usage_that_cannot_be_written_keeps_no_run_from_its_ending(
    path: Path, tokens: int
) -> None:
    async with opened(path) as store:
        await make_workspace(store)
        driven = await DrivenSession.begin(store)
        run = await driven.accept("hello")
        await driven.start()
        odd = Ending(
            status=RunStatus.COMPLETED,
            reason=Reason.END_TURN,
            usage=Usage(input_tokens=1, reasoning_tokens=tokens),
        )
        await driven.settle(odd)
        assert (await store.run(run.id)).status == "completed"
        assert list(await store.usage(since=DAY)) == []
