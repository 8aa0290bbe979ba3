"""What is recorded of a tool's output while it works."""

import asyncio
from typing import cast

import pytest
from msgspec.structs import replace

from tenuto.core.message import ToolPart, ToolState
from tenuto.core.value import CallId, PartId
from tenuto.engine import progress
from tenuto.engine.progress import Progress
from tenuto.engine.recorder import Recorder

pytestmark = pytest.mark.anyio
RUNNING = ToolPart(
    id=PartId("prt_1"), call_id=CallId("call_1"), name="shell", state=ToolState.RUNNING
)
LIMIT_SECONDS = 10.0


class OutputPad:
    def __init__(self) -> None:
        self.outputs: list[str | None] = []
        self.written = asyncio.Event()

    def update(self, part: ToolPart) -> None:
        assert replace(part, output=None) == RUNNING
        self.outputs.append(part.output)
        self.written.set()

    async def writes(self, output: str) -> None:
        async with asyncio.timeout(LIMIT_SECONDS):
            while output not in self.outputs:
                self.written.clear()
                await self.written.wait()


@pytest.fixture
def pad(monkeypatch: pytest.MonkeyPatch) -> OutputPad:
    monkeypatch.setattr(progress, "SECONDS", 0.0)
    return OutputPad()


def begun(pad: OutputPad) -> Progress:
    telling = Progress(cast("Recorder", pad))
    telling.begin(RUNNING)
    return telling


async def test_what_is_added_is_recorded_again_and_again(pad: OutputPad) -> None:
    telling = begun(pad)
    for output in ("a", "ab", "abc"):
        telling.tell(output)
        await pad.writes(output)
    assert pad.outputs == ["a", "ab", "abc"]


async def test_a_long_output_that_is_said_anew_waits_and_only_its_last_word_counts(
    pad: OutputPad, monkeypatch: pytest.MonkeyPatch
) -> None:
    telling = begun(pad)
    telling.tell("a")
    await pad.writes("a")
    telling.tell("b")
    await pad.writes("b")
    # The next that is not added at the end would be due in a hundred seconds.
    monkeypatch.setattr(progress, "REWRITTEN_CHARACTERS", 0.01)
    telling.tell("c")
    telling.tell("cc")
    for _ in range(20):
        await asyncio.sleep(0)
    assert pad.outputs == ["a", "b"]
    telling.record_now()
    assert pad.outputs == ["a", "b", "cc"]
    telling.stop()


async def test_nothing_is_recorded_once_the_call_has_ended(pad: OutputPad) -> None:
    telling = begun(pad)
    telling.tell("a")
    telling.stop()
    telling.tell("ab")
    telling.record_now()
    await asyncio.sleep(0)
    assert pad.outputs == []
