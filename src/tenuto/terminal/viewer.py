"""What people and scripts see of a run, on standard output and beside it."""

import re
from pathlib import Path
from typing import Any

import msgspec

from tenuto.client import Item, Seen
from tenuto.client.sse import Frame
from tenuto.core.event import PartUpdated, RunUpdated
from tenuto.core.message import ToolChange, ToolState
from tenuto.core.run import Run, Usage
from tenuto.core.value import PartId, RunId, SessionId, Value
from tenuto.terminal.answer import PieceKind, ShownAnswer
from tenuto.terminal.asking import Refused
from tenuto.terminal.options import Output, ViewOptions
from tenuto.terminal.out import Stdout, StdoutClosed, aside, note

BLOCK = re.compile(
    r"^(?P<fence>`{3,}|~{3,})[^\n]*\n(?P<code>.*?)^(?P=fence)", re.MULTILINE | re.DOTALL
)
INPUT_CHARACTERS = 120


class Result(Value, tag_field="type", tag="result"):
    """The last line of `jsonl`, and all of `json`."""

    run: Run
    session_id: SessionId
    text: str
    usage: Usage
    denied: tuple[Refused, ...]
    head: int


class Viewer:
    """Shows each thing once; a closed standard output makes it silent, not wrong."""

    def __init__(self, options: ViewOptions) -> None:
        self.answer = ShownAnswer()
        self.head = 0
        self.is_closed = False
        self._options = options
        self._stdout = Stdout()
        self._told: set[PartId] = set()
        self._inputs: dict[PartId, Any] = {}
        self._aside_open = False

    async def frame(self, frame: Frame) -> None:
        """The wire's own words."""
        self.head = int(frame.id)
        if self._options.output is Output.JSONL:
            data = frame.data
            if frame.event == "snapshot":
                # Alone among the frames it does not say itself what it is, nor where.
                data = f'{{"type":"snapshot","seq":{self.head},{data.removeprefix("{")}'
            await self._write(f"{data}\n")

    async def item(self, item: Item, run_id: RunId) -> None:
        for piece in self.answer.take(item, run_id):
            if piece.kind is PieceKind.TEXT:
                await self._text(piece.text)
            elif self._options.reasoning:
                aside(piece.text)
                self._aside_open = not piece.text.endswith("\n")
        if isinstance(item, Seen):
            await self._beside(item.event)

    async def end(self, run: Run, denied: list[Refused]) -> None:
        """All that is shown only when it is over."""
        self._keep_last()
        result = Result(
            run=run,
            session_id=run.session_id,
            text=self.answer.text,
            usage=run.usage,
            denied=tuple(denied),
            head=self.head,
        )
        if self._options.output is not Output.TEXT:
            await self._write(msgspec.json.encode(result).decode() + "\n")
        elif self._options.extract:
            await self._write(first_block(self.answer.text))
        elif not self._stdout.at_line_start:
            await self._write("\n")

    async def say(self, text: str) -> None:
        """A line beside the answer."""
        if self._options.quiet:
            return
        self._end_aside()
        if self._stdout.is_terminal and not self._stdout.at_line_start:
            await self._write("\n")
        note(text)

    async def print(self, line: str) -> None:
        """A line that is itself what was asked for."""
        await self._write(f"{line}\n")

    def _keep_last(self) -> None:
        if self._options.last_message is None:
            return
        try:
            Path(self._options.last_message).write_text(self.answer.last, encoding="utf-8")
        except OSError as error:
            note(f"--last-message {self._options.last_message}: {error.strerror}")

    def _end_aside(self) -> None:
        if self._aside_open:
            aside("\n")
            self._aside_open = False

    async def _text(self, text: str) -> None:
        self._end_aside()
        if self._options.output is Output.TEXT and not self._options.extract:
            await self._write(text)

    async def _write(self, text: str) -> None:
        if self.is_closed:
            return
        try:
            await self._stdout.write(text)
        except StdoutClosed:
            self.is_closed = True

    async def _beside(self, event: object) -> None:
        match event:
            case PartUpdated(part=ToolChange() as call):
                await self._call(call)
            case RunUpdated(run=run) if run.waiting is not None:
                await self.say(f"waiting: {run.waiting.reason}")
            case _:
                return

    async def _call(self, call: ToolChange) -> None:
        if call.input:
            # Told once, when it is whole; later changes leave it out.
            self._inputs[call.id] = call.input
        begun = call.state in (ToolState.WAITING_APPROVAL, ToolState.RUNNING)
        if begun and call.id not in self._told:
            self._told.add(call.id)
            await self.say(f"▸ {call.name}{_brief(self._inputs.pop(call.id, None))}")
        elif call.state in (ToolState.FAILED, ToolState.DENIED):
            await self.say(f"▸ {call.name}: {call.state}")


def first_block(text: str) -> str:
    """What is in the first code block; nothing if there is none."""
    found = BLOCK.search(text)
    return found["code"] if found else ""


def _brief(given: Any) -> str:
    if not isinstance(given, dict) or not given:
        return ""
    said = " ".join(str(value) for value in given.values())
    return f" {said[:INPUT_CHARACTERS]}"
