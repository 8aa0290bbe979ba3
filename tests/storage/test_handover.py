"""Jobs reach the writer's thread: all of them, in order, those of one turn together."""

import asyncio
import threading

import pytest

from tenuto.storage.sqlite.handover import Handover

pytestmark = pytest.mark.anyio

LIMIT = 512


class Thread:
    """Takes groups until the end, as the writer does."""

    def __init__(self) -> None:
        self.jobs: Handover[int] = Handover(asyncio.get_running_loop())
        self.groups: list[list[int | None]] = []
        self._thread = threading.Thread(target=self._take)
        self._thread.start()

    async def ended(self) -> None:
        self.jobs.end()
        await asyncio.to_thread(self._thread.join, 10)
        assert not self._thread.is_alive()

    def _take(self) -> None:
        while not self.groups or self.groups[-1][-1] is not None:
            self.groups.append(self.jobs.take(LIMIT))


async def test_every_job_arrives_in_order_whatever_the_pace() -> None:
    thread = Thread()
    for n in range(5_000):
        thread.jobs.put(n)
        if n % 7 == 0:
            await asyncio.sleep(0)
    await thread.ended()
    assert [job for group in thread.groups for job in group] == [*range(5_000), None]


async def test_what_is_put_in_one_turn_goes_together() -> None:
    thread = Thread()
    while not thread.jobs._sleeping:
        await asyncio.sleep(0.001)
    for n in range(10):
        thread.jobs.put(n)
    while not thread.groups:
        await asyncio.sleep(0.001)
    await thread.ended()
    assert thread.groups[0] == list(range(10))


async def test_a_group_has_a_limit() -> None:
    jobs: Handover[int] = Handover(asyncio.get_running_loop())
    for n in range(5):
        jobs.put(n)
    assert jobs.take(3) == [0, 1, 2]
    assert jobs.take(3) == [3, 4]
