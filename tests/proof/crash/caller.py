"""A client that never gives up: it asks again with its old key, and resumes from its old cursor."""

import json
from collections.abc import AsyncGenerator
from typing import Any
from uuid import uuid4

import aiohttp
import anyio

from tests.proof.crash.record import ClientRecord, Json, ToldAnswer
from tests.proof.crash.server import CrashingServer

LOST = (aiohttp.ClientError, OSError, TimeoutError)
SETBACKS = {404, 409}
"""Answers that a crash may explain: what was asked for is done, or can no longer be done."""


class Caller:
    def __init__(
        self, server: CrashingServer, record: ClientRecord, http: aiohttp.ClientSession
    ) -> None:
        self.server = server
        self.record = record
        self._http = http

    async def ask(
        self, method: str, path: str, body: Any = None, *, key: str = "", refused: int | None = None
    ) -> ToldAnswer:
        """The answer, however many servers it takes; `refused` is the status that it should have."""
        while True:
            answer = await self.ask_once(method, path, body, key=key, refused=refused)
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
        self, method: str, path: str, body: Any = None, *, key: str = "", refused: int | None = None
    ) -> ToldAnswer | None:
        """The answer; None if the server died before it was whole."""
        await self.server.up()
        deaths = self.server.deaths
        headers = {"Idempotency-Key": key} if key else {}
        url = self.server.url + path
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
        answer = ToldAnswer(
            method=method, path=path, key=key or None, sent=sent, status=status, body=found
        )
        self.record.answers.append(answer)
        # It may have been dead when we asked, without anyone knowing of it yet.
        well = answer.good if refused is None else status == refused
        explained = well or ((deaths or self.server.deaths) and status in SETBACKS)
        if not explained:
            self.record.complaints.append(f"{method} {path} was answered {status}: {text[:300]}")
        return answer

    async def stream(
        self, method: str, path: str, body: Any = None, *, key: str = "", after: int | None = None
    ) -> AsyncGenerator[Json, None]:
        """The events of one connection, recorded as they come; ends when it breaks."""
        await self.server.up()
        headers = {"Accept": "text/event-stream"}
        if key:
            headers["Idempotency-Key"] = key
        if after is not None:
            headers["Last-Event-ID"] = str(after)
        url = self.server.url + path
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
