"""Reads streams as fast as it can and checks every token; runs as its own process.

`python -m bench.reader KIND PORT RUNS TOKENS RATE`: KIND is `tenuto` (a run for each stream), `bare` or
`sdk` (straight from the model server), or `watch` (one run, watched by all). Says `ready`, waits for a
line on stdin, then prints one JSON object: seconds, tokens, events, latencies.
"""

import asyncio
import json
import sys
import time
from typing import Any, cast

import msgspec
import uvloop

TOKEN = "bench"


class Data(msgspec.Struct):
    type: str
    text: str = ""


decode = msgspec.json.Decoder(Data).decode


class Tally:
    """Counts tokens, in order, without loss or repetition, and how late each was."""

    counted = range(0)
    """Tokens whose lateness is counted: not the first and the last second, when a hundred runs
    begin and end at once and fewer than all of them stream."""

    def __init__(self) -> None:
        self.expected = 0
        self.events = 0
        self.late: list[int] = []

    def take(self, text: str, now: int) -> None:
        self.events += 1
        for token in text.split():
            number, _, sent = token.partition(":")
            if int(number) != self.expected:
                raise SystemExit(f"token {number} came when {self.expected} was due")
            if self.expected in self.counted:
                self.late.append(now - int(sent))
            self.expected += 1


class Lines(asyncio.Protocol):
    """A connection that gives whole lines to `line` until that says it has seen the end."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self._rest = b""
        self.tally = Tally()
        self.done: asyncio.Future[Tally] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        now = time.monotonic_ns() // 1000
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if line.startswith(b"data: ") and self.line(line[6:], now):
                self._transport.close()
                if not self.done.done():
                    self.done.set_result(self.tally)
                return

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(SystemExit("the stream ended early"))

    def line(self, data: bytes, now: int) -> bool:
        raise AssertionError("a kind of reader says what a line means")


class TenutoLines(Lines):
    def line(self, data: bytes, now: int) -> bool:
        found = decode(data)
        if found.type == "part.delta":
            self.tally.take(found.text, now)
        return found.type == "run.finished"


class BareLines(Lines):
    def line(self, data: bytes, now: int) -> bool:
        at = data.find(b'"content":"')
        if at > 0:
            start = at + len(b'"content":"')
            self.tally.take(data[start : data.index(b'"', start)].decode(), now)
        return data.startswith(b"[DONE]")


def order(tokens: int, rate: float) -> str:
    return json.dumps({"tokens": tokens, "rate": rate})


def http(method: str, path: str, body: Any = None, *, accept: str = "*/*") -> bytes:
    sent = b"" if body is None else json.dumps(body).encode()
    head = (
        f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {TOKEN}\r\n"
        f"accept: {accept}\r\ncontent-type: application/json\r\ncontent-length: {len(sent)}\r\n\r\n"
    )
    return head.encode() + sent


async def ask(port: int, method: str, path: str, body: Any = None) -> Any:
    """One call, answered as JSON."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(http(method, path, body))
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        (int(h.split(b":")[1]) for h in head.lower().split(b"\r\n") if h.startswith(b"content-le")),
        0,
    )
    content = await reader.readexactly(length)
    writer.close()
    if int(head.split()[1]) >= 400:
        raise SystemExit(f"{method} {path}: {content.decode()}")
    return json.loads(content) if content else None


async def new_sessions(port: int, count: int) -> list[str]:
    return [(await ask(port, "POST", "/api/sessions", {}))["id"] for _ in range(count)]


async def read(kind: type[Lines], port: int, request: bytes) -> Tally:
    loop = asyncio.get_running_loop()
    _, protocol = await loop.create_connection(lambda: kind(request), "127.0.0.1", port)
    return await protocol.done


async def prepare(kind: str, port: int, runs: int, tokens: int, rate: float) -> list[Any]:
    """One coroutine for each stream, ready to go."""
    asked = order(tokens, rate)
    if kind == "tenuto":
        body = {"input": asked, "mode": "chat"}
        sessions = await new_sessions(port, runs)
        return [
            read(
                TenutoLines,
                port,
                http("POST", f"/api/sessions/{s}/runs", body, accept="text/event-stream"),
            )
            for s in sessions
        ]
    if kind == "watch":
        (session,) = await new_sessions(port, 1)
        watch = http("GET", f"/api/sessions/{session}/events")
        start = ask(port, "POST", f"/api/sessions/{session}/runs", {"input": asked, "mode": "chat"})
        watching = [asyncio.ensure_future(read(TenutoLines, port, watch)) for _ in range(runs)]
        await asyncio.sleep(1)
        return [begin(start), *watching]
    if kind == "bare":
        turns = [{"role": "user", "content": asked}]
        request = http("POST", "/v1/chat/completions", {"stream": True, "messages": turns})
        return [read(BareLines, port, request) for _ in range(runs)]
    import openai

    client = openai.AsyncOpenAI(
        api_key=TOKEN, base_url=f"http://127.0.0.1:{port}/v1", max_retries=0, timeout=300
    )
    # Once before the clock starts: its first request loads half of what it is made of.
    await by_sdk(client, order(1, 0))
    return [by_sdk(client, asked) for _ in range(runs)]


async def begin(start: Any) -> None:
    """Nobody reads this one: it only sets the run going."""
    await start


async def by_sdk(client: Any, asked: str) -> Tally:
    tally = Tally()
    stream = await client.chat.completions.create(
        model="bench", stream=True, messages=[{"role": "user", "content": asked}]
    )
    async for chunk in stream:
        if chunk.choices and chunk.choices[0].delta.content:
            tally.take(chunk.choices[0].delta.content, time.monotonic_ns() // 1000)
    return tally


async def main(kind: str, port: int, runs: int, tokens: int, rate: float) -> None:
    Tally.counted = range(int(rate), tokens - int(rate))
    streams = await prepare(kind, port, runs, tokens, rate)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    began, busy = time.monotonic(), time.process_time()
    tallies = [tally for tally in await asyncio.gather(*streams) if tally is not None]
    seconds = time.monotonic() - began
    if any(tally.expected != tokens for tally in tallies):
        raise SystemExit("a stream ended before its last token")
    late = sorted(late for tally in tallies for late in tally.late)
    result = {
        "seconds": seconds,
        "busy": (time.process_time() - busy) / seconds,
        "tokens": runs * tokens,
        "events": sum(tally.events for tally in tallies),
        "p50_ms": late[len(late) // 2] / 1000,
        "p99_ms": late[len(late) * 99 // 100] / 1000,
    }
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    which, *numbers = sys.argv[1:]
    server_port, streams_wanted, tokens_each = (int(n) for n in numbers[:3])
    uvloop.run(main(which, server_port, streams_wanted, tokens_each, float(numbers[3])))
