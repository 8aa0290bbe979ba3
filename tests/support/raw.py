"""The HTTP API without our client: plain JSON, status codes, and frames one by one."""

import asyncio
import json
from types import TracebackType
from typing import Any, NamedTuple, Self

import aiohttp

FRAME_SECONDS = 15.0
LONGEST_LINE = 256 * 1024 * 1024


class RawAnswer(NamedTuple):
    status: int
    body: Any
    """Decoded JSON; None if there was no body."""
    headers: dict[str, str]


async def answer_of(response: aiohttp.ClientResponse) -> RawAnswer:
    text = await response.text()
    is_json = "json" in response.headers.get("Content-Type", "")
    decoded = await response.json(content_type=None) if is_json and text else None
    return RawAnswer(response.status, decoded, dict(response.headers))


class RawApi:
    """One connection per call, so that nothing of one call can touch the next."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self.token = token

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: dict[str, str] | None = None,
    ) -> RawAnswer:
        sent = {"Authorization": f"Bearer {self.token}", **(headers or {})}
        async with (
            aiohttp.ClientSession() as http,
            http.request(method, self.url + path, json=body, headers=sent) as response,
        ):
            return await answer_of(response)

    async def get(self, path: str) -> Any:
        answer = await self.call("GET", path)
        assert answer.status == 200, answer
        return answer.body

    async def text(self, path: str) -> str:
        headers = {"Authorization": f"Bearer {self.token}"}
        async with (
            aiohttp.ClientSession(headers=headers) as http,
            http.get(self.url + path) as response,
        ):
            assert response.status == 200
            return await response.text()

    async def post(self, path: str, body: Any = None) -> RawAnswer:
        return await self.call("POST", path, body)

    def sse(
        self,
        path: str,
        *,
        after: int | str | None = None,
        last_event_id: int | str | None = None,
        method: str = "GET",
        body: Any = None,
        headers: dict[str, str] | None = None,
    ) -> "RawSse":
        sent = {
            "Authorization": f"Bearer {self.token}",
            "Accept": "text/event-stream",
            **(headers or {}),
        }
        if last_event_id is not None:
            sent["Last-Event-ID"] = str(last_event_id)
        query = "" if after is None else f"?after={after}"
        return RawSse(method, self.url + path + query, headers=sent, body=body)


class RawFrame(NamedTuple):
    id: int
    event: str
    data: dict[str, Any]
    log: str | None = None
    """Whose it is, in a stream of many logs."""


class StreamEnded(Exception):
    """The server closed the stream properly."""


class RawSse:
    """An event stream that goes only as far as it is read, and never reconnects."""

    def __init__(self, method: str, url: str, *, headers: dict[str, str], body: Any) -> None:
        self._method = method
        self._url = url
        self._headers = headers
        self._body = body
        self.frames: list[RawFrame] = []
        """All that was read so far."""
        self.heartbeats = 0
        self.status = 0

    async def __aenter__(self) -> Self:
        # A small buffer: a reader that does not read must be felt by the server.
        self._http = aiohttp.ClientSession(read_bufsize=1024)
        try:
            self._response = await self._http.request(
                self._method, self._url, headers=self._headers, json=self._body
            )
        except BaseException:
            await self._http.close()
            raise
        self.status = self._response.status
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Hang up."""
        self._response.close()
        await self._http.close()

    async def next(self) -> RawFrame:
        """The next frame. Raises StreamEnded, or TimeoutError if there is none for long."""
        async with asyncio.timeout(FRAME_SECONDS):
            fields: dict[str, str] = {}
            while line := (await self._line()).decode():
                line = line.rstrip("\r\n")
                if line.startswith(":"):
                    self.heartbeats += 1
                elif line:
                    name, _, value = line.partition(":")
                    fields[name] = value.removeprefix(" ")
                elif "data" in fields:
                    return self._keep(fields)
        raise StreamEnded

    async def _line(self) -> bytes:
        # A line may be far longer than the small buffer that it comes through.
        return await self._response.content.readline(max_line_length=LONGEST_LINE)

    async def until(self, event: str, **fields: Any) -> RawFrame:
        """Read on to the first frame of this type whose data has these fields."""
        while True:
            frame = await self.next()
            if frame.event == event and fields.items() <= frame.data.items():
                return frame

    async def until_seq(self, seq: int) -> None:
        """Read on to this seq, if it was not reached yet."""
        while not self.frames or self.frames[-1].id < seq:
            await self.next()

    async def to_the_end(self) -> list[RawFrame]:
        """Read until the server closes the stream; all frames."""
        try:
            while True:
                await self.next()
        except StreamEnded:
            return self.frames

    def _keep(self, fields: dict[str, str]) -> RawFrame:
        # Only a log that is not there has no place in it.
        seq = int(fields["id"] if fields["event"] != "gone" else 0)
        data = json.loads(fields["data"])
        frame = RawFrame(seq, fields["event"], data, fields.get("log"))
        self.frames.append(frame)
        return frame
