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
from tenuto.core.error import NotFound
from tenuto.core.principal import Principal
from tenuto.core.value import FileId, SessionId
from tenuto.engine.engine import Switchboard
from tenuto.ports.query import RunQuery
from tenuto.ports.view import View
from tenuto.storage.memory import MemoryStore
from tests.mutation.stage import Stage

TOKEN = "t"
BY_SESSION = ("session", "snapshot", "messages", "user_message", "approvals", "read")


class NarrowStore(MemoryStore):
    """Shows everything to everyone, until it is told what to hide."""

    hidden: SessionId | None = None
    """A session that nobody sees, and nothing that is of it."""
    blind = False
    """Nobody sees anything."""

    def seen_by(self, who: Principal) -> View:
        return cast("View", Narrowed(self))


class Narrowed:
    def __init__(self, store: NarrowStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        async def look(*args: Any, **options: Any) -> Any:
            if self._store.blind or self._hides(name, args):
                raise NotFound("there is no such thing")
            found = await getattr(self._store, name)(*args, **options)
            if self._is_of_it(found):
                raise NotFound("there is no such thing")
            return found

        return look

    def _hides(self, name: str, args: tuple[Any, ...]) -> bool:
        hidden, asked = self._store.hidden, (*args, None)[0]
        if name in BY_SESSION:
            return bool(asked == hidden)
        if name in ("file", "file_content"):
            return hidden in self._store._state.uses.get(FileId(asked), ())
        return isinstance(asked, RunQuery) and asked.session_id == hidden and hidden is not None

    def _is_of_it(self, found: Any) -> bool:
        hidden = self._store.hidden
        run = getattr(found, "run", found)
        panes = getattr(getattr(found, "comparison", None), "panes", ())
        ids = [getattr(run, "session_id", None), *(pane.session_id for pane in panes)]
        return hidden is not None and hidden in ids


class Indoors:
    """A server but for its socket. Nobody works: what is accepted waits, what runs is held."""

    def __init__(self) -> None:
        # The engine hears of nothing, so it begins nothing.
        self.store = NarrowStore(Switchboard())
        stage = Stage(self.store, Switchboard())
        services = Services(
            engine=stage.engine,
            seen_by=self.store.seen_by,
            check_storage=self.store.check,
            models=stage.models,
            settings=cast("Any", None),
            providers=cast("Any", None),
            clock=stage.node.clock,
            started_at=stage.node.clock.now(),
            limits=BodyLimits(max_body_bytes=10_000, max_file_bytes=10_000),
            metrics=Metrics(),
        )
        door = Door(token=TOKEN, host="127.0.0.1", port=80)
        self.app = build_app(services, door, Guesses(most_per_minute=9))

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
