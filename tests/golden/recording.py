"""A recording: one session's events as a client saw them, with snapshots taken on the way."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec

from tests.api.contract.house import House, Json
from tests.support.raw import RawSse

FOLDER = Path(__file__).parent
DELTAS = "part.delta"


class Recording:
    """Follows a session from its first event, and asks the server how it is when told to."""

    def __init__(self, house: House, session: Json) -> None:
        self.house = house
        self.session = session
        """As it was at the beginning of what is told."""
        self.id: str = session["id"]
        self.events: list[Json] = []
        self.snapshots: list[Json] = []
        self._path = f"/api/sessions/{self.id}/events"

    async def mark(self) -> Json:
        """Remember how the server says that everything is now."""
        async with self.house.api.sse(self._path, after="now") as stream:
            frame = await stream.next()
        assert frame.event == "snapshot"
        told = await self.house.api.get(f"/api/sessions/{self.id}/messages")
        if told["head"] == frame.id:
            assert told["messages"] == frame.data["messages"]
        if not self.snapshots or self.snapshots[-1]["seq"] != frame.id:
            self.snapshots.append(frame.data)
        return frame.data

    async def until(self, kind: str, times: int = 1) -> Json:
        """Wait until this many more events of the kind have been seen; the last of them."""
        already = len(self.events)
        with anyio.fail_after(20):
            async with self._following() as stream:
                while times:
                    event = (await stream.next()).data
                    self.events.append(event)
                    times -= event["type"] == kind
        assert len(self.events) > already
        return self.events[-1]

    async def until_shown(self, text: str) -> None:
        """Wait until this text has streamed; how it is cut into deltas is the server's affair."""
        with anyio.fail_after(20):
            async with self._following() as stream:
                while text not in self._streamed():
                    self.events.append((await stream.next()).data)

    async def until_output(self, text: str) -> None:
        """Wait until an update has said a tool's output anew, with this text."""
        with anyio.fail_after(20):
            async with self._following() as stream:
                while text not in (self.events[-1].get("part", {}).get("output") or ""):
                    self.events.append((await stream.next()).data)

    async def to_the_head(self) -> None:
        """See all that there is so far."""
        head = (await self.house.api.get(f"/api/sessions/{self.id}"))["head"]
        async with self._following() as stream:
            while (self.events[-1]["seq"] if self.events else 0) < head:
                self.events.append((await stream.next()).data)

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Also sees what only those see who are there: a log's last event."""
        async with self._following() as stream:
            yield
            self.events += [frame.data for frame in await stream.to_the_end()]

    def told(self) -> Json:
        return {"session": self.session, "events": self.events, "snapshots": self.snapshots}

    def _streamed(self) -> str:
        return "".join(event["text"] for event in self.events if event["type"] == DELTAS)

    def _following(self) -> RawSse:
        return self.house.api.sse(self._path, after=self.events[-1]["seq"] if self.events else 0)


def outline(events: Sequence[Json]) -> list[str]:
    """Kinds of events, and who caused each; deltas that follow each other count once, as they
    may be merged."""
    kinds = [
        f"{event['type']} by {event['by']}" if "by" in event else event["type"] for event in events
    ]
    return [
        kind for n, kind in enumerate(kinds) if kind != DELTAS or n == 0 or kinds[n - 1] != DELTAS
    ]


def read(name: str) -> Json:
    told: Json = msgspec.json.decode((FOLDER / f"{name}.json").read_bytes())
    return told


def write(name: str, told: Any) -> None:
    text = msgspec.json.format(msgspec.json.encode(told), indent=1)
    (FOLDER / f"{name}.json").write_bytes(text + b"\n")
