"""A hostile provider: a bare socket that sends a shape to whoever asks for it by name."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Self

from tests.hostile.own_fields import lines
from tests.hostile.shape import STOPPED, Shape, closing, head, opening, stream, text_block

SOUND_LIST = b'{"data":[{"id":"m"}]}'
GOOD = {
    "openai": stream({"choices": [{"delta": {"content": "Good."}}]}, STOPPED, b"[DONE]"),
    "anthropic": stream(*opening(), text_block("Good."), *closing()),
    "responses": stream(
        {"type": "response.output_text.delta", "delta": "Good."},
        {"type": "response.completed", "response": {"status": "completed"}},
    ),
    "ollama": lines({"message": {"content": "Good."}, "done": True}),
}
WIRES = {"/messages": "anthropic", "/responses": "responses", "/api/chat": "ollama"}
"""By how the address ends; all others speak chat completions."""
NAMED = re.compile(r"<<(.*?)>>", re.DOTALL)
LISTED = re.compile(r"^/list/([\w-]+)/")


def prompt(shape: Shape) -> str:
    """What a user says to get this shape."""
    return f"<<{shape.name}>>"


class HostileProvider:
    """Listens from `async with` to its end. Asked with the results of tools, it answers well."""

    def __init__(self, shapes: Sequence[Shape], lists: Mapping[str, bytes] | None = None) -> None:
        self._shapes = {shape.name: shape for shape in shapes}
        self._lists = lists or {}
        """Whole answers to the question for models, by the name in the address."""
        self.url = ""
        self._meeting: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._meet, "127.0.0.1", 0, limit=2**24)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        while self._meeting:
            # Whoever asked is gone, so all that is left of them ends.
            await asyncio.wait(self._meeting)

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        meeting = asyncio.current_task()
        assert meeting is not None
        self._meeting.add(meeting)
        try:
            await self._answer(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # The other side has had enough, as it should.
        finally:
            writer.close()
            self._meeting.discard(meeting)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", first.lower())
        body = await reader.readexactly(int(length[1])) if length else b""
        method, target = first.decode().split()[:2]
        if method == "GET":
            writer.write(self._listing(target))
            await writer.drain()
            return
        wire = next((name for end, name in WIRES.items() if target.endswith(end)), "openai")
        shape = self._wanted(json.loads(body))
        if shape is None:
            writer.write(GOOD[wire])
            await writer.drain()
            return
        await _send(shape, reader, writer)

    def _listing(self, target: str) -> bytes:
        named = LISTED.match(target)
        if named and named[1] in self._lists:
            return self._lists[named[1]]
        return head(headers=b"Content-Length: %d\r\n" % len(SOUND_LIST)) + SOUND_LIST

    def _wanted(self, asked: Any) -> Shape | None:
        """None once tools have answered, so that every run can come to an end."""
        last = {"role": "", **(asked.get("messages") or asked["input"])[-1]}
        if last["role"] != "user":
            return None
        said = last["content"] if isinstance(last["content"], list) else [{"text": last["content"]}]
        if any("tool_use_id" in block for block in said):
            return None
        named = NAMED.findall(" ".join(block.get("text") or "" for block in said))
        return self._shapes[named[-1]] if named else None


async def _send(shape: Shape, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(shape.start)
    await writer.drain()
    if shape.again:
        while not writer.is_closing():
            writer.write(shape.again)
            await writer.drain()
            await asyncio.sleep(shape.pause)
    if shape.held:
        await reader.read()
