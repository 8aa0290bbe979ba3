"""What other nodes committed is read once for all who watch here, and nothing goes back."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

import anyio
import pytest

from tenuto.core.error import StorageTrouble
from tenuto.core.event import Stored
from tenuto.core.value import StreamId
from tenuto.engine.tailer import Recent
from tenuto.ports.query import Page
from tenuto.storage.memory import MemoryStore
from tests.engine.test_tailer import TailedStore, next_of

pytestmark = pytest.mark.anyio


class CountedStore(MemoryStore):
    """Counts how often logs are read, and refuses when a test says so."""

    reads = 0
    many: int = 0
    refuses = 0
    meanwhile: Callable[[], Awaitable[object]] | None = None
    """What happens once between a read and its answer."""

    async def read(self, stream: StreamId, *, after: int, limit: int) -> Page:
        self.reads += 1
        page = await super().read(stream, after=after, limit=limit)
        happens, self.meanwhile = self.meanwhile, None
        if happens is not None:
            await happens()
        return page

    async def read_many(
        self, after: Mapping[StreamId, int], *, limit: int
    ) -> Mapping[StreamId, Page]:
        self.many += 1
        if self.refuses:
            self.refuses -= 1
            raise StorageTrouble("not now")
        reads = self.reads
        pages = await super().read_many(after, limit=limit)
        self.reads = reads
        return pages


class Elsewhere(TailedStore):
    """A tailer that hears of nothing by itself: all is committed by other nodes."""

    def __init__(self) -> None:
        super().__init__(CountedStore)
        self.is_heard = False

    @property
    def counted(self) -> CountedStore:
        assert isinstance(self.store, CountedStore)
        return self.store


async def test_what_was_rung_is_read_once_for_all_who_watch() -> None:
    tailed = Elsewhere()
    driven = await tailed.begin()
    await driven.turn("one", "Hello")
    head = (await tailed.store.session(driven.id)).head
    viewers = [tailed.follow(driven) for _ in range(5)]
    for viewer in viewers:
        assert await next_of(viewer) == list(range(1, head + 1))
    waiting = [asyncio.create_task(next_of(viewer)) for viewer in viewers]
    await asyncio.sleep(0)
    reads = tailed.counted.reads
    await driven.accept("two")
    tailed.tailer.rang((StreamId(driven.id), StreamId("ses_nobody_watches")))
    assert await asyncio.gather(*waiting) == [[head + 1]] * 5
    assert (tailed.counted.many, tailed.counted.reads) == (1, reads)
    await tailed.tailer.close()


async def test_who_was_rung_while_reading_reads_again() -> None:
    tailed = Elsewhere()
    driven = await tailed.begin()
    viewer = tailed.follow(driven)
    await driven.accept("one")
    head = (await tailed.store.session(driven.id)).head
    assert await next_of(viewer) == list(range(1, head + 1))
    waiting = asyncio.create_task(next_of(viewer))
    await asyncio.sleep(0)
    tailed.tailer.rang((StreamId(driven.id),))
    await driven.start()
    tailed.tailer.rang((StreamId(driven.id),))
    first = await waiting
    after = (await tailed.store.session(driven.id)).head
    while first[-1] < after:
        first += await next_of(viewer)
    assert first == list(range(head + 1, after + 1))
    await tailed.tailer.close()


async def test_a_ring_that_comes_before_the_answer_to_a_read_is_not_forgotten() -> None:
    tailed = Elsewhere()
    driven = await tailed.begin()
    await driven.accept("one")
    head = (await tailed.store.session(driven.id)).head

    async def another() -> None:
        await driven.accept("two")
        tailed.tailer.rang((StreamId(driven.id),))
        await anyio.wait_all_tasks_blocked()

    tailed.counted.meanwhile = another
    viewer = tailed.follow(driven)
    assert await next_of(viewer) == list(range(1, head + 1))
    assert await next_of(viewer) == [head + 1]
    await tailed.tailer.close()


async def test_rings_that_were_lost_are_made_good_by_a_resync() -> None:
    tailed = Elsewhere()
    driven = await tailed.begin()
    await driven.accept("one")
    head = (await tailed.store.session(driven.id)).head
    viewer = tailed.follow(driven)
    assert await next_of(viewer) == list(range(1, head + 1))
    waiting = asyncio.create_task(next_of(viewer))
    await asyncio.sleep(0)
    await driven.start()
    tailed.tailer.resync()
    assert (await waiting)[0] == head + 1
    await tailed.tailer.close()


async def test_a_store_that_cannot_be_read_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenuto.engine.follower.AGAIN_SECONDS", 0.0)
    tailed = Elsewhere()
    driven = await tailed.begin()
    await driven.accept("one")
    head = (await tailed.store.session(driven.id)).head
    viewer = tailed.follow(driven)
    await next_of(viewer)
    waiting = asyncio.create_task(next_of(viewer))
    await asyncio.sleep(0)
    tailed.counted.refuses = 2
    await driven.start()
    tailed.tailer.rang((StreamId(driven.id),))
    assert (await waiting)[0] == head + 1
    assert tailed.counted.many == 3
    await tailed.tailer.close()


async def stored_events(count: int) -> Sequence[Stored]:
    tailed = TailedStore()
    driven = await tailed.begin()
    await driven.turn("one", "a", "b", "c", "d")
    return tailed.of(driven.id)[:count]


def recent() -> Recent:
    return Recent(lambda stored: b"%d " % stored.seq)


async def test_what_is_known_is_not_taken_twice_and_the_head_never_falls() -> None:
    events = await stored_events(6)
    frames = recent()
    frames.add(events[:5])
    # Late: it was read from the log before the store told of it.
    frames.add(events[1:3])
    assert frames.head == 5
    frames.add(events[3:6])
    assert frames.head == 6
    seen = frames.since(0)
    assert seen is not None
    assert [frame.seq for frame in seen] == [1, 2, 3, 4, 5, 6]


async def test_what_is_missing_between_is_left_to_the_log() -> None:
    events = await stored_events(6)
    frames = recent()
    frames.add(events[:2])
    frames.add(events[4:6])
    assert frames.head == 6
    assert frames.since(2) is None
    seen = frames.since(4)
    assert seen is not None
    assert [frame.seq for frame in seen] == [5, 6]
    frames.add(events[2:4])
    assert frames.head == 6
