"""Those who watch: steady, restless, slow, or always from a snapshot; all resume by cursor."""

import asyncio
import json
from enum import StrEnum
from random import Random

from tests.proof.history.client import AWAY, PAUSE_SECONDS, Frame, HistoryClient, Stream


class Manner(StrEnum):
    STEADY = "steady"
    RESTLESS = "restless"
    """Leaves and comes back with its cursor."""
    SLOW = "slow"
    FORGETFUL = "forgetful"
    """Keeps no cursor: begins with a snapshot each time."""


class Reader:
    """Follows one log until it has reached `until`, or the log is gone."""

    def __init__(self, client: HistoryClient, path: str, random: Random, manner: Manner) -> None:
        self._client = client
        self._path = path
        self._random = random
        self._manner = manner
        self.cursor = 0
        self.gone = False
        self.until: int | None = None
        """None: for as long as there is something to come."""

    async def watch(self) -> None:
        while not self.done:
            after = "now" if self._manner is Manner.FORGETFUL else self.cursor
            async with self._client.follow(self._path, after=after) as stream:
                if stream.status == 404:
                    self.gone = True
                elif stream.status == 200:
                    await self._watch_once(stream)
            await asyncio.sleep(self._away())

    async def _watch_once(self, stream: Stream) -> None:
        patience = self._random.randrange(50, 1500)
        while not self.done:
            frames = await self._next(stream)
            if not frames:
                return
            self._take(frames)
            patience -= len(frames)
            if patience < 0 and self._manner in (Manner.RESTLESS, Manner.FORGETFUL):
                return

    async def _next(self, stream: Stream) -> list[Frame]:
        if self._manner is not Manner.SLOW or self.until is not None:
            return await stream.read()
        await asyncio.sleep(self._random.uniform(0.0, 0.08))
        return await stream.read(limit=2048)

    def _take(self, frames: list[Frame]) -> None:
        self.cursor = frames[-1].seq
        self.gone = frames[-1].type == "session.deleted"

    def _away(self) -> float:
        longest = 1.5 if self._manner is Manner.RESTLESS else PAUSE_SECONDS
        return self._random.uniform(0.0, longest) if self.until is None else PAUSE_SECONDS

    @property
    def done(self) -> bool:
        return self.gone or (self.until is not None and self.cursor >= self.until)


async def follow_run(client: HistoryClient, run_id: str) -> None:
    """Follow one run to its end, through every broken connection."""
    cursor: int | None = None
    while True:
        async with client.follow(f"/api/runs/{run_id}/events", after=cursor) as stream:
            if stream.status not in (None, 200, AWAY):
                return
            while frames := await stream.read():
                cursor = frames[-1].seq
                if any(ends(frame, run_id) for frame in frames):
                    return
        await asyncio.sleep(PAUSE_SECONDS)


def ends(frame: Frame, run_id: str) -> bool:
    if frame.type == "session.deleted":
        return True
    return frame.type == "run.finished" and json.loads(frame.data)["run_id"] == run_id
