"""What a run is told of the conversation is put together anew at each step, and read once."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tenuto.agent.room import Room
from tenuto.agent.ruler import Ruler
from tenuto.core.run import InputFile, InputText, Mode
from tenuto.core.value import FileId
from tenuto.ports.query import Background
from tests.agent.scripted import MODEL, TranscriptBuilder
from tests.support.held_clock import HeldClock

pytestmark = pytest.mark.anyio

NOTES, PICTURE = FileId("fil_notes"), FileId("fil_picture")


class CountedWork:
    """A run whose files are counted as they are read."""

    def __init__(self) -> None:
        self.run = SimpleNamespace(mode=Mode.CHAT)
        self.read: list[FileId] = []

    async def file_content(self, file_id: FileId) -> bytes:
        self.read.append(file_id)
        return b"content"


async def test_an_attached_file_is_read_once_however_many_steps_a_run_has() -> None:
    work = CountedWork()
    room = Room(
        cast("Any", work),
        MODEL,
        tools=cast("Any", None),
        ruler=Ruler,
        summariser=cast("Any", None),
        clock=HeldClock(),
        surroundings=cast("Any", None),
    )
    talk = TranscriptBuilder().user([InputText(text="Look"), InputFile(file_id=NOTES)])
    for _ in range(3):
        await room._read_files(Background(messages=tuple(talk.messages), summary=None, head=1))
    assert work.read == [NOTES]
    talk.answer().user([InputFile(file_id=PICTURE), InputFile(file_id=NOTES)])
    files = await room._read_files(Background(messages=tuple(talk.messages), summary=None, head=1))
    assert work.read == [NOTES, PICTURE]
    assert set(files) == {NOTES, PICTURE}
