"""A server and the model that it asks, in the words of the contract: plain JSON, no client."""

import asyncio
import io
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from tests.api.contract.schema import Document
from tests.support.cluster import serving
from tests.support.model_server import Exchange, ModelServer
from tests.support.raw import RawAnswer, RawApi
from tests.support.server import TenutoServer

Json = dict[str, Any]


class Api(RawApi):
    """Checks every answer against the server's own description."""

    document: Document | None = None

    async def call(
        self, method: str, path: str, body: Any = None, *, headers: dict[str, str] | None = None
    ) -> RawAnswer:
        answer = await super().call(method, path, body, headers=headers)
        if self.document is None:
            self.document = Document(await self.get_unchecked("/openapi.json"))
        self.document.check(method, path, answer.status, answer.body)
        return answer

    async def get_unchecked(self, path: str) -> Any:
        return (await super().call("GET", path)).body

    async def send(
        self,
        method: str,
        path: str,
        data: bytes,
        *,
        headers: dict[str, str] | None = None,
    ) -> RawAnswer:
        """These very bytes as the body."""
        sent = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            **(headers or {}),
        }
        async with (
            aiohttp.ClientSession() as http,
            http.request(method, self.url + path, data=io.BytesIO(data), headers=sent) as response,
        ):
            decoded = await response.json(content_type=None) if await response.read() else None
            return RawAnswer(response.status, decoded, dict(response.headers))

    async def upload(
        self, content: bytes, name: str, media_type: str, *, headers: dict[str, str] | None = None
    ) -> RawAnswer:
        form = aiohttp.FormData(quote_fields=False)
        form.add_field("file", content, filename=name, content_type=media_type)
        sent = {"Authorization": f"Bearer {self.token}", **(headers or {})}
        async with (
            aiohttp.ClientSession() as http,
            http.post(self.url + "/api/files", data=form, headers=sent) as response,
        ):
            return RawAnswer(response.status, await response.json(), dict(response.headers))


class HeldModel(ModelServer):
    async def forget(self) -> None:
        """Leave the requests that no test has taken, also one that is still on its way."""
        address = urlsplit(self.url)
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        writer.write(b"GET /v1/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        await reader.read()
        writer.close()
        while not self._waiting.empty():
            self._waiting.get_nowait()


class House:
    def __init__(self, model: HeldModel, server: TenutoServer) -> None:
        self.model = model
        self.server = server
        self.api = Api(server.url, server.token)

    async def session(self, **fields: Any) -> str:
        answer = await self.api.post("/api/sessions", fields)
        assert answer.status == 201, answer
        found: str = answer.body["id"]
        return found

    async def prompt(self, session_id: str, input: Any = "hi", **fields: Any) -> Json:
        """The accepted run."""
        body = {"input": input, **fields}
        answer = await self.api.post(f"/api/sessions/{session_id}/runs", body)
        assert answer.status == 202, answer
        run: Json = answer.body
        return run

    async def held(
        self, session_id: str, input: Any = "hi", **fields: Any
    ) -> tuple[Json, Exchange]:
        """A prompt, and the request that the model got for it."""
        run = await self.prompt(session_id, input, **fields)
        return run, await self.request()

    async def request(self) -> Exchange:
        """The next request to the model; one that an earlier test gave up does not count."""
        while (exchange := await self.model.next_request()).ended != "open":
            pass
        return exchange

    async def answered(self, session_id: str, input: Any, answer: str, **fields: Any) -> Json:
        """A prompt, answered; the run as it ended."""
        run, exchange = await self.held(session_id, input, **fields)
        await exchange.say(answer)
        return await self.ended(run["id"])

    async def ended(self, run_id: str) -> Json:
        async with self.api.sse(f"/api/runs/{run_id}/events") as stream:
            await stream.to_the_end()
        return await self.run(run_id)

    async def run(self, run_id: str) -> Json:
        run: Json = await self.api.get(f"/api/runs/{run_id}")
        return run

    async def messages(self, session_id: str) -> list[Json]:
        found: list[Json] = (await self.api.get(f"/api/sessions/{session_id}/messages"))["messages"]
        return found

    async def texts(self, session_id: str) -> list[str]:
        """What each message says."""
        return [
            "".join(part.get("text", "") for part in message["parts"])
            for message in await self.messages(session_id)
        ]

    async def tidy(self) -> None:
        """Stop what a test left behind, so that the next one finds an idle house."""
        # In this order: a run that starts between the two looks is seen by the second.
        for status in ("queued", "running"):
            for run in (await self.api.get(f"/api/runs?status={status}&limit=200"))["runs"]:
                await self.api.post(f"/api/sessions/{run['session_id']}/cancel")
        await self.model.forget()


@asynccontextmanager
async def open_house(
    folder: Path, env: Mapping[str, str], *, settings_file: str = ""
) -> AsyncIterator[House]:
    """A house with these settings; MODEL_URL in the file stands for the model's address."""
    async with HeldModel() as model:
        if settings_file:
            text = settings_file.replace("MODEL_URL", model.url)
            (folder / "tenuto.toml").write_text(text, encoding="utf-8")
        url = None if settings_file else model.url
        async with serving(folder, model_url=url, env=env) as server:
            yield House(model, server)


def refused(answer: RawAnswer, status: int, code: str) -> str:
    """The answer is a problem of this kind; what it says of it."""
    assert answer.status == status, answer
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.body.keys() == {"type", "title", "status", "code", "detail"}
    assert (answer.body["status"], answer.body["code"]) == (status, code)
    detail: str = answer.body["detail"]
    assert detail and "Traceback" not in detail and "site-packages" not in detail
    return detail
