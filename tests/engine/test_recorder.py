"""What the recorder writes down, and what a viewer is given of it."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from tenuto.clock import SystemClock
from tenuto.core.event import PartDelta, PartField
from tenuto.core.message import TextPart, ToolPart, ToolState
from tenuto.core.value import CallId, PartId, StreamId
from tenuto.engine.bell import Bell
from tenuto.engine.engine import Switchboard
from tenuto.engine.recorder import Recorder
from tenuto.engine.tailer import Batch, Tailer
from tenuto.storage.memory import MemoryStore
from tests.conformance.driven import DrivenSession, make_workspace, whole_log

pytestmark = pytest.mark.anyio
PART = TextPart(id=PartId("prt_one"))
LIMIT_SECONDS = 10.0


class RecorderAndTailer:
    """A store, someone who records into it, and someone who follows."""

    def __init__(self) -> None:
        switchboard = Switchboard()
        self.store = MemoryStore(switchboard)
        self.tailer = Tailer(self.store, Bell(), lambda stored: b"%d " % stored.seq)
        switchboard.on_committed.append(self.tailer.committed)

    async def begin(self) -> DrivenSession:
        await make_workspace(self.store)
        driven = await DrivenSession.begin(self.store)
        await driven.accept("one")
        await driven.start()
        return driven

    async def recorder(self, driven: DrivenSession) -> Recorder:
        message = await self.store.open_message(driven.id)
        return Recorder(
            self.store, SystemClock(), session_id=driven.id, fence=driven.fence, message=message
        )

    def follow(self, driven: DrivenSession, *, after: int) -> AsyncIterator[Batch]:
        stream = StreamId(driven.id)
        return self.tailer.follow(stream, after=after, snapshot=None, last=lambda _: False)


async def deltas(driven: DrivenSession) -> list[tuple[int, str]]:
    log = await whole_log(driven.store, driven.id)
    return [(event.offset, event.text) for event in log if isinstance(event, PartDelta)]


async def test_an_offset_counts_characters_and_what_comes_together_is_kept_whole() -> None:
    parts = RecorderAndTailer()
    driven = await parts.begin()
    recorder = await parts.recorder(driven)
    recorder.start(PART)
    recorder.grow(PART.id, "one 🌊 ")
    recorder.grow(PART.id, "two 🌊 ")
    await recorder.flush()
    recorder.grow(PART.id, "three")
    await recorder.flush()
    assert await deltas(driven) == [(0, "one 🌊 two 🌊 "), (12, "three")]


CALL = ToolPart(id=PartId("prt_call"), call_id=CallId("call_1"), name="shell")


async def test_the_log_grows_by_what_is_new_of_a_call() -> None:
    parts = RecorderAndTailer()
    driven = await parts.begin()
    recorder = await parts.recorder(driven)
    recorder.start(CALL)
    recorder.grow(CALL.id, '{"command": "x"}', PartField.INPUT)
    streamed = replace(CALL, input_text='{"command": "x"}')
    running = replace(streamed, input={"command": "x"}, state=ToolState.RUNNING)
    recorder.update(running)
    for output in ("🌊 one", "🌊 one two", "🌊 one two", "three", "three four"):
        recorder.update(replace(running, output=output))
        await recorder.flush()
    recorder.update(replace(running, output="three four five", state=ToolState.DONE))
    await recorder.flush()
    told = [
        {
            name: told[name]
            for name in ("field", "offset", "text", "input", "output", "state")
            if name in told
        }
        for stored in (await driven.store.read(StreamId(driven.id), after=0, limit=99)).events
        if stored.type in ("part.delta", "part.updated")
        for event in [msgspec.json.decode(stored.body)]
        for told in [event.get("part", event)]
    ]
    assert told == [
        {"field": "input", "offset": 0, "text": '{"command": "x"}'},
        {"input": {"command": "x"}, "state": "running"},
        {"field": "output", "offset": 0, "text": "🌊 one"},
        {"field": "output", "offset": 5, "text": " two"},
        {"output": "three", "state": "running"},
        {"field": "output", "offset": 5, "text": " four"},
        {"field": "output", "offset": 10, "text": " five"},
        {"state": "done"},
    ]
    whole = replace(running, output="three four five", state=ToolState.DONE)
    message = await driven.store.open_message(driven.id)
    assert message is not None and message.parts == (whole,)


async def seqs(batches: AsyncIterator[Batch], up_to: int) -> list[int]:
    """What a viewer sees, to this place."""
    seen: list[int] = []
    async with asyncio.timeout(LIMIT_SECONDS):
        while not seen or seen[-1] < up_to:
            batch = await anext(batches)
            seen += [int(word) for frame in batch.frames for word in frame.split()]
    return seen


async def test_a_viewer_gets_each_event_once_whether_recent_old_or_new() -> None:
    parts = RecorderAndTailer()
    driven = await parts.begin()
    head = await driven.say("a", "b")
    early = parts.follow(driven, after=0)
    assert await seqs(early, head) == list(range(1, head + 1))
    # From here on the newest are shared: one who comes later finds a part of them there.
    newest = await driven.go_on_saying("c", "d", "e")
    assert await seqs(early, newest) == [head + 1, head + 2, head + 3]
    between = parts.follow(driven, after=head + 1)
    assert await seqs(between, newest) == [head + 2, head + 3]
    old = parts.follow(driven, after=2)
    assert await seqs(old, newest) == list(range(3, newest + 1))


async def test_who_produces_waits_while_the_store_is_away_and_nothing_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What waits to be stored has a bound; when the store is back, all of it is there."""
    parts = RecorderAndTailer()
    driven = await parts.begin()
    recorder = await parts.recorder(driven)
    recorder.start(PART)
    await recorder.flush()
    back, append = asyncio.Event(), parts.store.append

    async def later(*given: Any, **more: Any) -> Any:
        await back.wait()
        return await append(*given, **more)

    def away(*given: Any, **more: Any) -> Any:
        return asyncio.ensure_future(later(*given, **more))

    monkeypatch.setattr(parts.store, "append", away)
    piece, count = "x" * 10_000, 0
    while (room := recorder.room()) is None and count < 100:
        recorder.grow(PART.id, piece)
        count += 1
        await asyncio.sleep(0)
    assert room is not None
    assert 256 * 1024 < count * len(piece) <= 256 * 1024 + 3 * len(piece)
    back.set()
    async with asyncio.timeout(LIMIT_SECONDS):
        await room
        await recorder.flush()
    assert sum(len(text) for _, text in await deltas(driven)) == count * len(piece)
