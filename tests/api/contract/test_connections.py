"""Connections from anyone: what they may hold up, and for how long."""

import asyncio
import resource
import subprocess
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Self

import pytest

from tests.api.contract.house import House
from tests.support.server import TenutoServer

pytestmark = [pytest.mark.anyio, pytest.mark.guarantee("E1")]

HEAD_SECONDS = 1
BODY_SECONDS = 1
FEW = 256
PATIENCE = 30
ENDLESS = 4 * 1024 * 1024
"""As good as: many times what a head may have."""


@pytest.fixture(scope="module")
def settings() -> dict[str, str]:
    return {
        "TENUTO_LIMITS_HEAD_SECONDS": str(HEAD_SECONDS),
        "TENUTO_LIMITS_BODY_SECONDS": str(BODY_SECONDS),
    }


class RawConnection:
    """A connection of bytes, as they come."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def __aenter__(self) -> Self:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def rest(self) -> bytes:
        """All that comes until the other side hangs up."""
        async with asyncio.timeout(PATIENCE):
            try:
                return await self.reader.read()
            except ConnectionError:
                return b""

    async def is_over(self) -> None:
        await self.rest()

    async def flood(self, data: bytes, total: int) -> None:
        """Send this again and again, until the other side hangs up. Raises TimeoutError."""
        async with asyncio.timeout(PATIENCE):
            try:
                for _ in range(total // len(data)):
                    await self.send(data)
                await self.reader.read()
            except ConnectionError:
                return


def head(house: House, path: str, *more: str, method: str = "GET") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *more]
    lines.append(f"Authorization: Bearer {house.server.token}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


@pytest.mark.parametrize(
    "sent", [b"", b"\r\n", b"GET / HT", b"GET / HTTP/1.1\r\nHost: localhost\r\n"]
)
async def test_a_head_that_does_not_come_is_not_waited_for(house: House, sent: bytes) -> None:
    async with RawConnection(house.server.port) as line:
        await line.send(sent)
        await line.is_over()


async def test_a_head_that_comes_byte_by_byte_has_no_more_time(house: House) -> None:
    async with RawConnection(house.server.port) as line:
        ended = asyncio.create_task(line.is_over())
        for byte in b"GET /healthz HTTP/1.1\r\nX: " + b"y" * 10_000:
            if ended.done() or line.writer.is_closing():
                break
            line.writer.write(bytes([byte]))
            await asyncio.sleep(0.01)
        await ended


async def test_the_next_head_has_no_more_time_than_the_first(house: House) -> None:
    async with RawConnection(house.server.port) as line:
        await line.send(head(house, "/healthz") + b"GET /hea")
        assert (await line.rest()).startswith(b"HTTP/1.1 200 OK")


async def test_a_body_that_stops_coming_is_not_waited_for(house: House) -> None:
    async with RawConnection(house.server.port) as line:
        await line.send(head(house, "/api/sessions", "Content-Length: 10", method="POST") + b"{")
        await line.is_over()
    assert "a request failed" not in house.server.log()


async def test_a_body_that_keeps_coming_is_waited_for(house: House) -> None:
    async with RawConnection(house.server.port) as line:
        more = ("Content-Length: 10", "Connection: close")
        await line.send(head(house, "/api/sessions", *more, method="POST"))
        for byte in b"{        }":
            await asyncio.sleep(BODY_SECONDS / 4)
            await line.send(bytes([byte]))
        assert (await line.rest()).startswith(b"HTTP/1.1 201 Created")


async def test_a_silent_stream_has_all_the_time_in_the_world(house: House, session_id: str) -> None:
    async with RawConnection(house.server.port) as line:
        await line.send(head(house, f"/api/sessions/{session_id}/events"))
        for _ in range(3):
            await asyncio.sleep(HEAD_SECONDS)
        await house.api.call("PATCH", f"/api/sessions/{session_id}", {"title": "Still there?"})
        async with asyncio.timeout(PATIENCE):
            await line.reader.readuntil(b"Still there?")


async def test_a_slow_reader_gets_all_of_a_large_answer(house: House) -> None:
    form = b'--B\r\nContent-Disposition: form-data; name="file"; filename="large"\r\n\r\n'
    form += b"x" * 8_000_000 + b"\r\n--B--\r\n"
    kind = {"Content-Type": "multipart/form-data; boundary=B"}
    info = (await house.api.send("POST", "/api/files", form, headers=kind)).body
    async with RawConnection(house.server.port) as line:
        await line.send(head(house, f"/api/files/{info['id']}"))
        # The next head is overdue before this answer is read.
        await asyncio.sleep(2 * HEAD_SECONDS)
        assert (await line.rest()).count(b"x" * 1000) == 8000


WITHOUT_END = {
    "address": (b"GET /", b"a" * 1000),
    "one header": (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ", b"a" * 1000),
    "many headers": (b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"X: " + b"a" * 95 + b"\r\n"),
    "empty lines": (b"", b"\r\n" * 100),
    "after the body": (
        b"POST /login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ",
        b"a" * 1000,
    ),
}


async def test_a_head_without_end_is_refused(tmp_path: Path) -> None:
    # So patient that only the number of bytes can be the reason.
    env = {"TENUTO_LIMITS_HEAD_SECONDS": "600", "TENUTO_LIMITS_BODY_SECONDS": "600"}
    async with TenutoServer(tmp_path, model_url=None, env=env) as server:
        for first, again in WITHOUT_END.values():
            async with RawConnection(server.port) as line:
                await line.send(first)
                await line.flood(again, ENDLESS)
        assert (await server.raw.call("GET", "/healthz")).status == 200


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 70_000 + b"\r\n\r\n", b"431"),
        (b"GET /healthz?" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", b"431"),
        (b"what is this\r\n\r\n", b"400"),
    ],
)
async def test_what_is_refused_is_told_why(house: House, sent: bytes, status: bytes) -> None:
    async with RawConnection(house.server.port) as line:
        await line.send(sent)
        answer = await line.rest()
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert b"application/problem+json" in answer
    assert b'"code":"invalid_input"' in answer


async def test_a_head_of_many_cookies_is_read(house: House) -> None:
    async with RawConnection(house.server.port) as line:
        cookies = "Cookie: " + "; ".join(f"c{n}={'v' * 90}" for n in range(500))
        await line.send(head(house, "/api/models", cookies, "Connection: close"))
        assert (await line.rest()).startswith(b"HTTP/1.1 200 OK")


class FewDescriptors(TenutoServer):
    """May open so many files and connections and, if `hard` says so, ask for more."""

    def __init__(self, folder: Path, *, hard: int, env: dict[str, str] | None = None) -> None:
        super().__init__(folder, model_url=None, env=env)
        self._hard = hard

    def _spawn(self) -> subprocess.Popen[bytes]:
        process = super()._spawn()
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (FEW, self._hard))
        return process


async def test_as_many_descriptors_are_taken_as_there_are(tmp_path: Path) -> None:
    async with FewDescriptors(tmp_path, hard=1000) as server:
        assert resource.prlimit(server.pid, resource.RLIMIT_NOFILE) == (1000, 1000)


@pytest.fixture
async def crowd() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as crowd:
        yield crowd


async def test_a_thousand_silent_strangers_keep_nobody_out(
    tmp_path: Path, crowd: AsyncExitStack
) -> None:
    env = {"TENUTO_LIMITS_HEAD_SECONDS": "600", "TENUTO_LIMITS_UNKNOWN_CONNECTIONS": "10000"}
    async with FewDescriptors(tmp_path, hard=FEW, env=env) as server:
        async with asyncio.timeout(PATIENCE):
            session = (await server.raw.post("/api/sessions", {})).body
            stream = await crowd.enter_async_context(
                server.raw.sse(f"/api/sessions/{session['id']}/events")
            )
            for _ in range(1000):
                line = await crowd.enter_async_context(RawConnection(server.port))
                await line.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
            body = {"title": "Nobody waits"}
            await server.raw.call("PATCH", f"/api/sessions/{session['id']}", body)
            assert (await stream.next()).data["changes"]["title"] == "Nobody waits"


async def test_many_who_have_the_token_may_come_at_once(house: House) -> None:
    async with AsyncExitStack() as all_of_them:
        lines = [
            await all_of_them.enter_async_context(RawConnection(house.server.port))
            for _ in range(600)
        ]
        asked = head(house, "/healthz", "Connection: close")
        await asyncio.gather(*(line.send(asked) for line in lines))
        answers = await asyncio.gather(*(line.rest() for line in lines))
    assert {answer[:15] for answer in answers} == {b"HTTP/1.1 200 OK"}


async def test_a_client_that_hangs_up_is_no_error(house: House) -> None:
    before = await house.api.text("/metrics")
    for path in ("/api/sessions", "/api/files", "/login"):
        kind = "Content-Type: multipart/form-data; boundary=BB"
        async with RawConnection(house.server.port) as line:
            await line.send(head(house, path, "Content-Length: 99", kind, method="POST") + b"{")
    async with RawConnection(house.server.port) as line:
        # In its own time: when this one is over, so are those before it.
        await line.send(head(house, "/api/sessions", "Content-Length: 9", method="POST") + b"{")
        await line.is_over()
    assert _failed(await house.api.text("/metrics")) == _failed(before)
    assert "ClientDisconnect" not in house.server.log()
    assert '"level":"error"' not in house.server.log()


def _failed(metrics: str) -> list[str]:
    return [line for line in metrics.splitlines() if 'status="500"' in line]
