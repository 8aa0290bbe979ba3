"""A client that writes down all it does: every request, every answer, every event."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, NamedTuple

import aiohttp
import msgspec

from tests.proof.history.record import Answer, Closed, Left, Opened, Record, Request, Seen, now
from tests.support.server import TOKEN

ANSWER_SECONDS = 12.0
SILENCE_SECONDS = 15.0
"""The server sends a sign of life every ten."""
PAUSE_SECONDS = 0.05
AWAY = 503
"""The store is away, for now."""
ENDLESS = aiohttp.ClientTimeout(total=None)
LOST = (aiohttp.ClientError, OSError, TimeoutError, ValueError)


class Reply(NamedTuple):
    status: int
    body: Any


class Frame(NamedTuple):
    seq: int
    type: str
    data: bytes


class HistoryClient:
    """One of many. Its connections are its own, so that each can be cut alone."""

    def __init__(self, name: str, url: str, record: Record, *, keep_alive: bool) -> None:
        self.name = name
        self._url = url
        self._record = record
        self._numbers = count(1)
        self._http = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, force_close=not keep_alive),
            headers={"Authorization": f"Bearer {TOKEN}"},
            read_bufsize=4096,
        )

    async def close(self) -> None:
        await self._http.close()

    def new_key(self) -> str:
        return f"key-{self.name}-{next(self._numbers)}"

    async def call(
        self, method: str, path: str, body: Any = None, *, key: str | None = None
    ) -> Reply | None:
        """Ask once; None if the answer was lost."""
        request_id = self._ask(method, path, body, key)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                async with self._http.request(
                    method, self._url + path, json=body, headers=_headers(key)
                ) as response:
                    text = await response.text()
            reply = Reply(response.status, json.loads(text) if text else None)
        except LOST as error:
            self._record.write(Answer(id=request_id, at=now(), lost=_name(error)))
            return None
        if reply.status == AWAY:
            # It may have been done: only the same key, or a look, tells.
            code = f"{AWAY} {reply.body['code']}"
            self._record.write(Answer(id=request_id, at=now(), lost=code))
            return None
        self._record.write(Answer(id=request_id, at=now(), status=reply.status, body=reply.body))
        return reply

    async def insist(
        self, method: str, path: str, body: Any = None, *, key: str | None = None
    ) -> Reply:
        """Ask until there is an answer."""
        while True:
            reply = await self.call(method, path, body, key=key)
            if reply is not None:
                return reply
            await asyncio.sleep(PAUSE_SECONDS)

    @asynccontextmanager
    async def follow(self, path: str, *, after: int | str | None) -> AsyncGenerator["Stream", None]:
        """The events at this path, from a cursor on."""
        stream = self._stream(path, None if after is None else str(after))
        headers = {} if after is None else {"Last-Event-ID": str(after)}
        async with stream.opened(
            self._http.get(self._url + path, headers=headers, timeout=ENDLESS)
        ):
            yield stream

    @asynccontextmanager
    async def prompt(self, path: str, body: Any, *, key: str) -> AsyncGenerator["Stream", None]:
        """Send a prompt whose answer is the stream of its run."""
        request_id = self._ask("POST", path, body, key)
        stream = self._stream(path, None, request=request_id)
        headers = {**_headers(key), "Accept": "text/event-stream"}
        call = self._http.post(self._url + path, json=body, headers=headers, timeout=ENDLESS)
        async with stream.opened(call):
            run_id = (stream.location or "").removeprefix("/api/runs/") or None
            at = now()
            if stream.status in (None, AWAY):
                self._record.write(
                    Answer(id=request_id, at=at, lost=f"{stream.status or 'no answer'}")
                )
            else:
                known = None if run_id is None else {"id": run_id}
                self._record.write(Answer(id=request_id, at=at, status=stream.status, body=known))
            yield stream

    def _ask(self, method: str, path: str, body: Any, key: str | None) -> str:
        request_id = f"{self.name}.{next(self._numbers)}"
        self._record.write(
            Request(
                id=request_id,
                client=self.name,
                method=method,
                path=path,
                body=body,
                key=key,
                sent_at=now(),
            )
        )
        return request_id

    def _stream(self, path: str, after: str | None, *, request: str | None = None) -> "Stream":
        connection = f"{self.name}/{next(self._numbers)}"
        self._record.write(
            Opened(
                connection=connection,
                client=self.name,
                stream=path,
                after=after,
                request=request,
                sent_at=now(),
            )
        )
        return Stream(connection, self._record)


class Stream:
    """One connection with events. It is over when `read` gives nothing."""

    def __init__(self, connection: str, record: Record) -> None:
        self.connection = connection
        self.status: int | None = None
        """None until there is an answer."""
        self.location: str | None = None
        self._record = record
        self._buffer = b""
        self._how: Left = "left"
        self._response: aiohttp.ClientResponse | None = None

    @asynccontextmanager
    async def opened(self, call: Any) -> AsyncGenerator[None, None]:
        try:
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    self._response = await call
                self.status = self._response.status
                self.location = self._response.headers.get("Location")
                if self.status != 200:
                    self._how = "refused"
            except LOST:
                self._how = "broken"
            yield
        finally:
            if self._response is not None:
                self._response.close()
            closed = Closed(connection=self.connection, how=self._how, at=now(), status=self.status)
            self._record.write(closed)

    async def read(self, *, limit: int = 1 << 16) -> list[Frame]:
        """The next frames, written down; nothing if no more will come."""
        frames: list[Frame] = []
        while self._how == "left" and not frames:
            assert self._response is not None
            try:
                async with asyncio.timeout(SILENCE_SECONDS):
                    chunk = await self._response.content.read(limit)
            except LOST:
                self._how = "broken"
                break
            if not chunk:
                self._how = "ended"
                break
            frames = self._take(chunk)
        return frames

    def _take(self, chunk: bytes) -> list[Frame]:
        *whole, self._buffer = (self._buffer + chunk).split(b"\n\n")
        at = now()
        frames = [frame for text in whole if (frame := parse_frame(text)) is not None]
        for frame in frames:
            self._record.write(seen(self.connection, frame, at))
        return frames


def parse_frame(text: bytes) -> Frame | None:
    """A frame of the stream; None for a comment."""
    fields = dict(line.split(b": ", 1) for line in text.split(b"\n") if not line.startswith(b":"))
    if b"data" not in fields:
        return None
    return Frame(int(fields[b"id"]), fields[b"event"].decode(), fields[b"data"])


def seen(connection: str, frame: Frame, at: float) -> Seen:
    return Seen(
        connection=connection, seq=frame.seq, type=frame.type, at=at, data=msgspec.Raw(frame.data)
    )


def _headers(key: str | None) -> dict[str, str]:
    return {} if key is None else {"Idempotency-Key": key}


def _name(error: BaseException) -> str:
    return type(error).__name__
