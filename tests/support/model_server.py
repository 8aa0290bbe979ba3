"""A model server that a test holds and releases piece by piece.

It speaks the OpenAI chat-completions wire on a loopback port. Each request becomes an
`Exchange`: nothing is sent until the test says so.

    async with ModelServer() as server:
        exchange = await server.next_request()
        await exchange.text("Hel")
        await exchange.text("lo")
        await exchange.finish()

As a process of its own, for load: `python -m tests.support.model_server --help`.
"""

import argparse
import asyncio
import re
import sys
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any, Literal, Self

import msgspec
from aiohttp import web

Ended = Literal["open", "finished", "closed by client", "dropped"]
OLLAMA = "/api/chat"
Script = Callable[["Exchange"], Awaitable[None]]


class ClientGone(ConnectionError):
    """The client closed the connection before this could be sent."""


class Exchange:
    """One request, and the answer that the test gives to it."""

    def __init__(self, request: web.Request, body: Any) -> None:
        self.path = request.path
        self.house = request.match_info.get("house", "")
        """The first word of the path, where several providers share this server."""
        lines = request.path.endswith(OLLAMA)
        self.content_type = "application/x-ndjson" if lines else "text/event-stream"
        self.headers = dict(request.headers)
        self.body = body
        self.ended: Ended = "open"
        self._request = request
        self._response: web.StreamResponse | None = None
        self._over = asyncio.Event()
        self._usage: dict[str, Any] | None = None

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body["messages"])

    @property
    def prompt(self) -> str:
        """The text of the last user message, after our notes in it."""
        said = [m["content"] for m in self.messages if m["role"] == "user"]
        last = said[-1] if said else ""
        if not isinstance(last, str):
            last = "\n".join(block["text"] for block in last if block["type"] == "text")
        return last.rpartition("</note>")[2].lstrip("\n")

    async def begin(self) -> None:
        """Send the headers and nothing else."""
        await self.raw(b"")

    async def text(self, piece: str) -> None:
        await self.delta({"content": piece})

    async def reasoning(self, piece: str) -> None:
        await self.delta({"reasoning_content": piece})

    async def tool_call(self, index: int, call_id: str, name: str) -> None:
        """Begin a tool call; its input follows by `tool_input`."""
        function = {"name": name, "arguments": ""}
        call = {"index": index, "id": call_id, "type": "function", "function": function}
        await self.delta({"tool_calls": [call]})

    async def tool_input(self, index: int, piece: str) -> None:
        await self.delta({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})

    async def usage(self, input: int, output: int, reasoning: int = 0) -> None:
        """Report this usage right after the finish, if the client asked for usage."""
        self._usage = {
            "prompt_tokens": input,
            "completion_tokens": output,
            "total_tokens": input + output,
            "completion_tokens_details": {"reasoning_tokens": reasoning},
        }

    async def finish(self, reason: str = "stop") -> None:
        """Send the finish reason, the usage if there is one, and the end of the stream."""
        await self.delta({}, finish_reason=reason)
        wanted = (self.body.get("stream_options") or {}).get("include_usage")
        if self._usage and wanted:
            await self.chunk({"choices": [], "usage": self._usage})
        await self.data(b"[DONE]")
        await self.end()

    async def say(self, text: str, finish: str = "stop") -> None:
        """Answer with this text at once."""
        await self.text(text)
        await self.usage(len(self.prompt.split()), len(text.split()))
        await self.finish(finish)

    async def delta(self, delta: dict[str, Any], *, finish_reason: str | None = None) -> None:
        await self.chunk(
            {"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}
        )

    async def chunk(self, fields: dict[str, Any]) -> None:
        """Send one chunk of the OpenAI wire."""
        head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": self.body["model"]}
        await self.data(msgspec.json.encode({**head, **fields}))

    async def event(self, name: str, data: Any) -> None:
        """Send one named event, as the Anthropic wire has them."""
        await self.raw(b"event: %b\ndata: %b\n\n" % (name.encode(), msgspec.json.encode(data)))

    async def line(self, data: Any) -> None:
        """Send one line of JSON, as Ollama's own wire has them."""
        await self.raw(msgspec.json.encode(data) + b"\n")

    async def data(self, line: bytes) -> None:
        await self.raw(b"data: " + line + b"\n\n")

    async def raw(self, content: bytes) -> None:
        """Send these bytes, in one write."""
        if self.ended != "open":
            raise ClientGone(f"cannot send: the exchange is {self.ended}")
        try:
            if self._response is None:
                headers = {"Content-Type": self.content_type, "Cache-Control": "no-cache"}
                self._response = web.StreamResponse(headers=headers)
                await self._response.prepare(self._request)
            if content:
                await self._response.write(content)
        except ConnectionError as error:
            raise ClientGone("the client closed the connection") from error

    async def end(self) -> None:
        """End the body properly, whether or not it was finished."""
        assert self._response is not None, "nothing was sent yet"
        try:
            await self._response.write_eof()
        except ConnectionError as error:
            raise ClientGone("the client closed the connection") from error
        self._close("finished")

    async def drop(self) -> None:
        """Break the connection at once; what was sent just before may be lost on the way."""
        if self._request.transport is not None:
            self._request.transport.abort()
        self._close("dropped")

    async def break_off(self) -> None:
        """Close the connection in the middle of the body; what was sent before still arrives."""
        if self._request.transport is not None:
            self._request.transport.close()
        self._close("dropped")

    async def complain(self, message: str = "No.") -> None:
        """End with an error in the middle of the answer, of a kind that does not pass."""
        error = {"message": message, "type": "invalid_request_error", "code": None}
        await self.chunk({"error": error})
        await self.end()

    async def fail(
        self, status: int, message: str, headers: dict[str, str] | None = None, code: str = ""
    ) -> None:
        """Answer with an error; only before anything was sent."""
        error = {"error": {"message": message, "type": "error", "code": code or None}}
        await self.answer(error, status=status, headers=headers)

    async def answer(
        self, body: Any, *, status: int = 200, headers: dict[str, str] | None = None
    ) -> None:
        """Answer with one JSON body instead of a stream."""
        assert self._response is None, "something was sent already"
        content = body if isinstance(body, bytes) else msgspec.json.encode(body)
        fields = {"Content-Type": "application/json", **(headers or {})}
        answer = web.Response(status=status, headers=fields, body=content)
        self._response = answer
        try:
            await answer.prepare(self._request)
            await answer.write_eof()
        except ConnectionError as error:
            raise ClientGone("the client closed the connection") from error
        self._close("finished")

    async def closed(self, timeout: float = 10) -> None:  # noqa: ASYNC109
        """Wait until the client has closed the connection."""
        async with asyncio.timeout(timeout):
            await self._over.wait()
        assert self.ended == "closed by client", f"the exchange is {self.ended}"

    async def hold(self) -> web.StreamResponse:
        """Keep the connection open until the exchange is over. For the server."""
        try:
            await self._over.wait()
        except asyncio.CancelledError:
            self._close("closed by client")
            raise
        return self._response or web.Response(status=500)

    def _close(self, ended: Ended) -> None:
        if self.ended == "open":
            self.ended = ended
        self._over.set()


class ModelServer:
    """Listens from `async with` to its end; `port=0` takes a free one."""

    def __init__(self, *, port: int = 0, remember: int = 100_000) -> None:
        self.models: list[Any] = ["test-model"]
        """Names, or whole objects as `GET /v1/models` should give them."""
        self.listings: dict[str, list[Any]] = {}
        """The same for each provider that has a first word of the path to itself."""
        self.models_status = 200
        self.exchanges: deque[Exchange] = deque(maxlen=remember)
        self.counts: Counter[str] = Counter()
        self.url = ""
        self._port = port
        self._script: Script | None = None
        self._waiting: asyncio.Queue[Exchange] = asyncio.Queue()
        self._scripts: set[asyncio.Task[None]] = set()

    def script(self, script: Script | None) -> None:
        """Let this function answer each request from now on; None: the test does again."""
        self._script = script

    async def next_request(self, timeout: float = 10) -> Exchange:  # noqa: ASYNC109
        """The oldest request that the test has not taken yet."""
        async with asyncio.timeout(timeout):
            return await self._waiting.get()

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=256 * 1024 * 1024)
        app.router.add_get("/v1/models", self._list)
        app.router.add_get("/api/tags", self._tags)
        app.router.add_get("/stats", self._stats)
        app.router.add_post("/v1/chat/completions", self._exchange)
        app.router.add_post("/v1/messages", self._exchange)
        app.router.add_post("/v1/responses", self._exchange)
        app.router.add_post(OLLAMA, self._exchange)
        app.router.add_get("/{house}/v1/models", self._list)
        app.router.add_get("/{house}/api/tags", self._tags)
        for path in ("v1/chat/completions", "v1/messages", "v1/responses", "api/chat"):
            app.router.add_post(f"/{{house}}/{path}", self._exchange)
        # Cancelling the handler is how a closed connection is noticed while nothing is sent.
        self._runner = web.AppRunner(
            app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._scripts:
            task.cancel()
        for exchange in self.exchanges:
            if exchange.ended == "open":
                await exchange.drop()
        await self._runner.cleanup()

    async def _tags(self, request: web.Request) -> web.Response:
        """As Ollama lists them; whoever asks it for more is told nothing."""
        models = self.listings.get(request.match_info.get("house", ""), self.models)
        named = [m if isinstance(m, dict) else {"name": m} for m in models]
        return web.json_response({"models": named}, status=self.models_status)

    async def _list(self, request: web.Request) -> web.Response:
        models = self.listings.get(request.match_info.get("house", ""), self.models)
        data = [m if isinstance(m, dict) else {"id": m, "object": "model"} for m in models]
        return web.json_response({"object": "list", "data": data}, status=self.models_status)

    async def _stats(self, _: web.Request) -> web.Response:
        names = ("open", "finished", "closed by client", "dropped")
        return web.json_response({name.replace(" ", "_"): self.counts[name] for name in names})

    async def _exchange(self, request: web.Request) -> web.StreamResponse:
        exchange = Exchange(request, msgspec.json.decode(await request.read()))
        self.exchanges.append(exchange)
        self.counts["open"] += 1
        if self._script is None:
            self._waiting.put_nowait(exchange)
        else:
            task = asyncio.create_task(_follow(self._script, exchange))
            self._scripts.add(task)
            task.add_done_callback(self._scripts.discard)
        try:
            return await exchange.hold()
        finally:
            self.counts["open"] -= 1
            self.counts[exchange.ended] += 1


def answer(text: str, *, pieces: int = 1, rate: float | None = None) -> Script:
    """A script that says `text` in so many pieces, `rate` of them in a second."""
    cuts = [n * len(text) // pieces for n in range(pieces + 1)]
    parts = [text[start:end] for start, end in pairwise(cuts)]

    async def play(exchange: Exchange) -> None:
        await _paced(exchange, parts, rate)

    return play


def by_prompt(*, pieces: int, rate: float | None, silent: bool) -> Script:
    """A script that follows `pieces=9 rate=5 silent` in the prompt, else what is given here."""

    async def play(exchange: Exchange) -> None:
        wish = dict(re.findall(r"\b(pieces|rate)=(\d+(?:\.\d+)?)", exchange.prompt))
        if silent or re.search(r"\bsilent\b", exchange.prompt):
            await exchange.begin()
            return
        count = int(float(wish.get("pieces", pieces)))
        speed = float(wish["rate"]) if "rate" in wish else rate
        await _paced(exchange, [f"word{n} " for n in range(count)], speed)

    return play


async def _paced(exchange: Exchange, parts: list[str], rate: float | None) -> None:
    loop = asyncio.get_running_loop()
    start = loop.time()
    for n, part in enumerate(parts):
        if rate:
            await asyncio.sleep(start + n / rate - loop.time())
        await exchange.text(part)
    await exchange.usage(len(exchange.prompt.split()), len(parts))
    await exchange.finish()


async def _follow(script: Script, exchange: Exchange) -> None:
    try:
        await script(exchange)
    except ClientGone:
        return  # The exchange itself says so.


async def _serve(args: argparse.Namespace) -> None:
    async with ModelServer(port=args.port, remember=0) as server:
        server.script(by_prompt(pieces=args.pieces, rate=args.rate, silent=args.silent))
        sys.stdout.write(server.url + "\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="A model server for load tests.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--pieces", type=int, default=200, help="pieces of each answer")
    parser.add_argument(
        "--rate", type=float, help="pieces per second; as fast as possible if not given"
    )
    parser.add_argument("--silent", action="store_true", help="send headers and then nothing, ever")
    asyncio.run(_serve(parser.parse_args()))


if __name__ == "__main__":
    main()
