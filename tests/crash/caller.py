"""A client that never gives up: it asks again with its old key, and resumes from its old cursor."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any
from uuid import uuid4

import aiohttp
import anyio

from tests.crash.lives import Lives
from tests.crash.record import Answer, Json, Record
from tests.support.fold import Fold

LOST = (aiohttp.ClientError, OSError, TimeoutError)
SETBACKS = {404, 409}
"""Answers that a crash may explain: what was asked for is done, or can no longer be done."""
PATIENCE_SECONDS = 20.0
LONGEST_LINE = 1 << 24


class Caller:
    def __init__(self, lives: Lives, record: Record, http: aiohttp.ClientSession) -> None:
        self.lives = lives
        self.record = record
        self._http = http

    async def ask(self, method: str, path: str, body: Any = None, *, key: str = "") -> Answer:
        """The answer, however many servers it takes."""
        while True:
            answer = await self.ask_once(method, path, body, key=key)
            if answer is not None:
                return answer

    async def create(self, path: str, body: Any = None) -> Json | None:
        """What a keyed POST made; None if a crash came between."""
        answer = await self.ask("POST", path, body or {}, key=str(uuid4()))
        return answer.body if answer.good else None

    async def get(self, path: str) -> Any:
        answer = await self.ask("GET", path)
        return answer.body if answer.good else None

    async def ask_once(
        self, method: str, path: str, body: Any = None, *, key: str = ""
    ) -> Answer | None:
        """The answer; None if the server died before it was whole."""
        await self.lives.up()
        deaths = self.lives.deaths
        headers = {"Idempotency-Key": key} if key else {}
        url = self.lives.url + path
        form = body if isinstance(body, aiohttp.FormData) else None
        try:
            async with self._http.request(
                method, url, json=None if form else body, data=form, headers=headers
            ) as response:
                text = await response.text()
                status = response.status
        except LOST:
            await anyio.sleep(0.002)
            return None
        found = json.loads(text) if text else None
        sent = None if form else body
        answer = Answer(
            method=method, path=path, key=key or None, sent=sent, status=status, body=found
        )
        self.record.answers.append(answer)
        explained = answer.good or (deaths and status in SETBACKS)
        if not explained:
            self.record.complaints.append(f"{method} {path} was answered {status}: {text[:300]}")
        return answer

    async def stream(
        self, method: str, path: str, body: Any = None, *, key: str = "", after: int | None = None
    ) -> AsyncGenerator[Json, None]:
        """The events of one connection, recorded as they come; ends when it breaks."""
        await self.lives.up()
        headers = {"Accept": "text/event-stream"}
        if key:
            headers["Idempotency-Key"] = key
        if after is not None:
            headers["Last-Event-ID"] = str(after)
        url = self.lives.url + path
        try:
            async with self._http.request(method, url, json=body, headers=headers) as response:
                if response.status != 200:
                    yield {"type": "refused", "status": response.status}
                    return
                async for line in response.content:
                    if line.startswith(b"data: "):
                        yield json.loads(line[6:])
        except LOST:
            await anyio.sleep(0.002)


class Watch:
    """Follows one log through every restart and knows what it comes to."""

    def __init__(self, caller: Caller, path: str, log: str) -> None:
        self._caller = caller
        self._path = f"{path}/events"
        self.log = log
        self.cursor = 0
        self.fold = Fold()
        self.over = False
        self._news = anyio.Event()

    async def follow(self) -> None:
        while not self.over:
            async with aclosing(
                self._caller.stream("GET", self._path, after=self.cursor)
            ) as events:
                async for event in events:
                    self._hear(event)

    async def until(self, true: Callable[[Fold], object]) -> None:
        """Wait until this is so, or the session is gone."""
        with anyio.move_on_after(PATIENCE_SECONDS):
            while not self.over and not true(self.fold):
                await self._news.wait()
            return
        runs = [(run["input"], run["status"]) for run in self.fold.runs.values()]
        raise AssertionError(f"{self.log} at {self.cursor} waits in vain: {runs}")

    async def ended(self, run: Json | None) -> Json | None:
        """The run as it ended; None if there is none, or it is gone."""
        if run is None:
            return None
        await self.until(lambda fold: fold.runs.get(run["id"], run).get("finished_at"))
        return self.fold.runs.get(run["id"])

    def _hear(self, event: Json) -> None:
        record = self._caller.record
        if event["type"] == "refused":
            self._refused(event["status"])
        elif event["type"] == "snapshot" and self._may_jump:
            self.cursor = record.whole_after[self.log] = event["seq"]
        elif event["type"] == "snapshot" or event["seq"] != self.cursor + 1:
            record.complaints.append(f"{self.log}: after {self.cursor} came {event}")
            self.over = True
        else:
            record.see(self.log, event)
            self.cursor = event["seq"]
            self._apply(event)
        self._news.set()
        self._news = anyio.Event()

    @property
    def _may_jump(self) -> bool:
        """A workspace's log forgets what it said of a deleted session, and says so."""
        return not self.log.startswith("ses_")

    def _apply(self, event: Json) -> None:
        if self._may_jump:
            if event["type"] == "session.deleted":
                self._caller.record.whole_after[self.log] = event["seq"]
            return
        self.fold.apply(event)
        if event["type"] == "session.deleted":
            self.over = True

    def _refused(self, status: int) -> None:
        self.over = True
        if status != 404 or self.log not in self._caller.record.doomed:
            self._caller.record.complaints.append(f"{self.log} cannot be watched: {status}")
