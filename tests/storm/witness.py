"""Those who watch a storm: they write down all they see and never look away for long."""

from typing import Any

import aiohttp
import anyio

from tenuto.client import ConnectionLost, Seen, SessionHandle
from tests.support.raw import RawApi, RawFrame, StreamEnded

Json = dict[str, Any]
PAUSE_SECONDS = 0.05


class RawWitness:
    """Follows one session without our client, and resumes by `Last-Event-ID` alone."""

    def __init__(self, raw: RawApi, session_id: str) -> None:
        self._raw = raw
        self._path = f"/api/sessions/{session_id}/events"
        self.events: list[Json] = []
        self.complaints: list[str] = []
        self.resumed = 0

    @property
    def cursor(self) -> int:
        return len(self.events)

    async def watch(self) -> None:
        while True:
            try:
                await self._watch_once()
            except (aiohttp.ClientError, OSError, TimeoutError, StreamEnded):
                await anyio.sleep(PAUSE_SECONDS)

    async def _watch_once(self) -> None:
        async with self._raw.sse(self._path, last_event_id=self.cursor) as stream:
            if stream.status != 200:
                raise StreamEnded
            self.resumed += 1
            while True:
                self._see(await stream.next())

    def _see(self, frame: RawFrame) -> None:
        if frame.id != self.cursor + 1 or frame.event == "snapshot":
            self.complaints.append(f"after {self.cursor} came {frame.event} {frame.id}")
            raise StreamEnded
        self.events.append(frame.data)


class ClientWitness:
    """Follows one session with our client, which is to hide that the server ever died."""

    def __init__(self, session: SessionHandle) -> None:
        self._session = session
        self.seen: list[Seen] = []
        self.complaints: list[str] = []

    @property
    def cursor(self) -> int:
        return len(self.seen)

    async def watch(self) -> None:
        try:
            async for item in self._session.events():
                if not isinstance(item, Seen) or item.seq != self.cursor + 1:
                    self.complaints.append(f"after {self.cursor} came {type(item)} {item.seq}")
                    return
                self.seen.append(item)
        except ConnectionLost as lost:
            self.complaints.append(f"our client gave up: {lost}")
