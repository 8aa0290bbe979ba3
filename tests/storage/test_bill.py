"""The bill of a file that is older than the bill."""

from pathlib import Path

import apsw
import pytest

from tenuto.core.run import Ending, Reason, RunStatus, Usage
from tests.conformance.life import Life, make_workspace
from tests.storage.conftest import opened

pytestmark = pytest.mark.anyio

DAY = "2030-01-01"
BEFORE_THE_BILL = 2


def ended(tokens: int, cost: float | None, *, exact: bool = True) -> Ending:
    usage = Usage(input_tokens=tokens, output_tokens=tokens, exact=exact, cost_usd=cost)
    return Ending(status=RunStatus.COMPLETED, reason=Reason.END_TURN, usage=usage)


async def test_an_older_file_gets_its_bill_from_its_runs(path: Path) -> None:
    async with opened(path) as store:
        await make_workspace(store)
        life = await Life.begin(store)
        for end in (ended(10, 0.5), ended(5, None), ended(1, 0.25, exact=False)):
            await life.accept("hello")
            await life.start()
            await life.settle(end)
        waiting = await life.accept("never ran")
        await life.withdraw(waiting.id)
        await life.accept("runs")
        await life.start()
        before = list(await store.spending(since=DAY))
    assert [(one.runs, one.input_tokens, one.cost_usd) for one in before] == [(3, 16, 0.75)]
    connection = apsw.Connection(str(path))
    connection.execute("DROP TABLE usage")
    connection.execute(f"PRAGMA user_version = {BEFORE_THE_BILL}")
    connection.close()
    async with opened(path) as store:
        assert list(await store.spending(since=DAY)) == before
