"""Viewers: where a stream begins, when it ends, and what a viewer who is behind gets."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from tenuto.core.event import Stored
from tenuto.core.value import SessionId, StreamId
from tenuto.engine.bell import Bell
from tenuto.engine.tailer import Batch, Tailer
from tenuto.storage.memory import MemoryStore
from tests.conformance.driven import DrivenSession, make_workspace
from tests.conformance.listener import Listener

pytestmark = pytest.mark.anyio

LIMIT_SECONDS = 10.0


class TailedStore(Listener):
    """A store whose commits a tailer hears of, or not."""

    def __init__(self, kind: type[MemoryStore] = MemoryStore) -> None:
        super().__init__()
        self.store = kind(self)
        self.tailer = Tailer(self.store, Bell(), lambda stored: b"%d " % stored.seq)
        self.is_heard = True

    def committed(self, stream: StreamId, events: Sequence[Stored]) -> None:
        super().committed(stream, events)
        if self.is_heard:
            self.tailer.committed(stream, events)

    async def begin(self) -> DrivenSession:
        await make_workspace(self.store)
        return await DrivenSession.begin(self.store)

    def follow(
        self, driven: DrivenSession, after: int | None = 0, **options: Any
    ) -> AsyncIterator[Batch]:
        usual = {"snapshot": None, "last": lambda frame: False, **options}
        return self.tailer.follow(StreamId(driven.id), after=after, **usual)


async def next_of(batches: AsyncIterator[Batch]) -> list[int]:
    async with asyncio.timeout(LIMIT_SECONDS):
        batch = await anext(batches)
    return [int(word) for frame in batch.frames for word in frame.split()]


async def rest_of(batches: AsyncIterator[Batch]) -> list[int]:
    async with asyncio.timeout(LIMIT_SECONDS):
        return [int(w) async for batch in batches for f in batch.frames for w in f.split()]


async def test_a_stream_ends_after_its_last_frame() -> None:
    tailed = TailedStore()
    driven = await tailed.begin()
    await driven.turn("one", "Hello")
    end = (await tailed.store.session(driven.id)).head
    await driven.turn("two", "Bye")
    head = (await tailed.store.session(driven.id)).head
    # It ends by itself, with the page in which that frame was.
    whole = list(range(1, head + 1))
    assert await rest_of(tailed.follow(driven, last=lambda frame: frame.seq == end)) == whole
    assert await rest_of(tailed.follow(driven, until=end)) == whole


async def test_a_viewer_is_shown_only_what_it_wants_and_its_cursor_goes_on() -> None:
    tailed = TailedStore()
    driven = await tailed.begin()
    await driven.turn("one", "Hello")
    head = (await tailed.store.session(driven.id)).head
    odd = tailed.follow(driven, shown=lambda frame: frame.seq % 2 == 1)
    async with asyncio.timeout(LIMIT_SECONDS):
        batch = await anext(odd)
    assert [int(frame) for frame in batch.frames] == list(range(1, head + 1, 2))
    assert batch.cursor == head


async def test_without_a_cursor_a_snapshot_comes_first() -> None:
    tailed = TailedStore()
    driven = await tailed.begin()
    await driven.turn("one", "Hello")
    head = (await tailed.store.session(driven.id)).head

    async def snapshot() -> tuple[bytes, int]:
        return b"1000 ", head

    batches = tailed.follow(driven, None, snapshot=snapshot)
    assert await next_of(batches) == [1000]
    await driven.accept("two")
    assert await next_of(batches) == [head + 1]


async def test_who_is_rung_from_another_node_reads_the_log() -> None:
    tailed = TailedStore()
    driven = await tailed.begin()
    await driven.turn("one", "Hello")
    head = (await tailed.store.session(driven.id)).head
    batches = tailed.follow(driven)
    assert await next_of(batches) == list(range(1, head + 1))
    waiting = asyncio.create_task(next_of(batches))
    await asyncio.sleep(0)
    tailed.is_heard = False
    await driven.accept("two")
    tailed.tailer.rang((StreamId(driven.id),))
    assert await waiting == [head + 1]


async def test_what_is_pushed_is_not_given_again() -> None:
    tailed = TailedStore()
    driven = await tailed.begin()
    await driven.accept("one")
    head = (await tailed.store.session(driven.id)).head
    pushed: list[bytes] = []

    def push(data: bytes) -> bool:
        pushed.append(data)
        return len(pushed) < 2

    batches = tailed.follow(driven, push=push)
    assert await next_of(batches) == list(range(1, head + 1))
    waiting = asyncio.create_task(next_of(batches))
    await asyncio.sleep(0)
    await driven.start()
    await driven.settle()
    # The second push was taken but is not out yet: the viewer is woken, with nothing to give.
    assert await waiting == []
    after = (await tailed.store.session(driven.id)).head
    assert [int(w) for data in pushed for w in data.split()] == list(range(head + 1, after + 1))


async def test_streams_end_with_the_server_and_nobody_is_left() -> None:
    tailed = TailedStore()
    driven = await tailed.begin()
    await driven.accept("one")
    batches = tailed.follow(driven)
    await next_of(batches)
    assert tailed.tailer.viewers() == 1
    waiting = asyncio.create_task(rest_of(batches))
    await asyncio.sleep(0)
    await tailed.tailer.close()
    assert await waiting == []
    assert tailed.tailer.viewers() == 0


async def test_a_log_that_is_gone_ends_its_stream() -> None:
    tailed = TailedStore()
    driven = DrivenSession(tailed.store, SessionId("ses_none"))
    assert await rest_of(tailed.follow(driven)) == []
