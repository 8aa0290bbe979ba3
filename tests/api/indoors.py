"""The whole of HTTP without a socket, over a store that a test can look into and narrow."""

import asyncio
from typing import Any, cast

import msgspec
from starlette.types import Message

from tenuto.api.app import build_app
from tenuto.api.door import Door
from tenuto.api.guesses import Guesses
from tenuto.api.metrics import Metrics
from tenuto.api.services import BodyLimits, Services
from tenuto.engine.engine import Switchboard
from tests.engine.harness import EngineHarness
from tests.support.narrow import NarrowStore

TOKEN = "t"


class Indoors:
    """A server but for its socket. Nobody works: what is accepted waits, what runs is held."""

    def __init__(self) -> None:
        self.store = NarrowStore(Switchboard())
        harness = EngineHarness(self.store, Switchboard())
        services = Services(
            engine=harness.engine,
            seen_by=self.store.seen_by,
            check_storage=self.store.check,
            nodes=self.store.nodes,
            models=harness.models,
            settings=cast("Any", None),
            providers=cast("Any", None),
            mcp=cast("Any", None),
            sandbox=cast("Any", None),
            clock=harness.node.clock,
            started_at=harness.node.clock.now(),
            limits=BodyLimits(max_body_bytes=10_000, max_file_bytes=10_000),
            metrics=Metrics(),
        )
        self.coordinator = harness.coordinator
        door = Door(token=TOKEN, host="127.0.0.1", port=80)
        self.app = build_app(services, door, Guesses(most_per_minute=9))

    async def rest(self) -> None:
        """Begin nothing from now on."""
        await self.coordinator.drain(0)

    async def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        kind: str = "application/json",
        key: str | None = None,
    ) -> tuple[int, Any]:
        """The status and what was said; a stream is left as soon as it has begun."""
        path, _, query = path.partition("?")
        sent = body if isinstance(body, bytes) else msgspec.json.encode(body or {})
        headers = {"host": "127.0.0.1", "authorization": f"Bearer {TOKEN}", "content-type": kind}
        if key is not None:
            headers["idempotency-key"] = key
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 1),
        }
        begun, said, statuses = asyncio.Event(), bytearray(), list[int]()
        waiting: list[Message] = [{"type": "http.request", "body": sent, "more_body": False}]

        async def receive() -> Message:
            if waiting:
                return waiting.pop()
            await begun.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])
                return
            said.extend(message["body"])
            begun.set()

        async with asyncio.timeout(10):
            await self.app(scope, receive, send)
        try:
            return statuses[0], msgspec.json.decode(bytes(said))
        except msgspec.DecodeError:
            return statuses[0], bytes(said)
