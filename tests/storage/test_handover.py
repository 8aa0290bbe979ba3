"""Jobs reach the writer's thread: all of them, in order, those of one turn together."""

import asyncio
import threading
from collections.abc import Sequence

import pytest

from tenuto.storage.sqlite.file.handover import Handover
from tests.storage.files import until

pytestmark = pytest.mark.anyio

LIMIT = 512
BESIDE = 4


class Thread:
    """Takes groups until the end, as the writer does."""

    def __init__(self) -> None:
        self.jobs: Handover[int] = Handover(asyncio.get_running_loop())
        self.groups: list[Sequence[int]] = []
        self._thread = threading.Thread(target=self._take)
        self._thread.start()

    async def ended(self) -> None:
        self.jobs.end()
        await asyncio.to_thread(self._thread.join, 10)
        assert not self._thread.is_alive()

    def _take(self) -> None:
        while group := self.jobs.take(LIMIT, slow_beside_quick=BESIDE):
            self.groups.append(group)


async def test_every_job_arrives_in_order_whatever_the_pace() -> None:
    thread = Thread()
    for n in range(5_000):
        thread.jobs.put(n)
        if n % 7 == 0:
            await asyncio.sleep(0)
    await thread.ended()
    assert [job for group in thread.groups for job in group] == list(range(5_000))


async def test_what_is_put_in_one_turn_goes_together() -> None:
    thread = Thread()
    await until(lambda: thread.jobs._sleeping)
    for n in range(10):
        thread.jobs.put(n)
    await until(lambda: bool(thread.groups))
    await thread.ended()
    assert thread.groups[0] == list(range(10))


async def test_a_group_has_a_limit() -> None:
    jobs: Handover[int] = Handover(asyncio.get_running_loop())
    for n in range(5):
        jobs.put(n)
    assert jobs.take(3, slow_beside_quick=BESIDE) == [0, 1, 2]
    assert jobs.take(3, slow_beside_quick=BESIDE) == [3, 4]


async def test_quick_jobs_go_first_and_the_others_are_not_forgotten() -> None:
    jobs: Handover[int] = Handover(asyncio.get_running_loop())
    for n in range(10):
        jobs.put(n)
    jobs.put_quick(100)
    jobs.put_quick(101)
    assert jobs.take(LIMIT, slow_beside_quick=BESIDE) == [100, 101, 0, 1, 2, 3]
    assert jobs.take(LIMIT, slow_beside_quick=BESIDE) == [4, 5, 6, 7, 8, 9]
