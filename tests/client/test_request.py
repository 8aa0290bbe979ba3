"""A request whose answer is lost is sent again only where that does no harm."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest

from tenuto.client import ApiError, Client, ConnectionLost, Patience
from tenuto.core.run import WhenBusy
from tenuto.core.value import RunId, SessionId
from tests.client.fake_server import RUN, SESSION, FakeServer, answer, lose_the_answer, no

pytestmark = pytest.mark.anyio

QUICK = Patience(limit_seconds=10, first_seconds=0.01, longest_seconds=0.05, silence_seconds=5)
FILE = {
    "id": "fil_1",
    "name": "a.txt",
    "media_type": "text/plain",
    "size": 1,
    "created_at": "2026-01-01T00:00:00.000Z",
}


@asynccontextmanager
async def asking(server: FakeServer) -> AsyncIterator[Client]:
    async with server, Client(server.url, "secret", patience=QUICK) as client:
        yield client


async def test_a_prompt_whose_answer_is_lost_is_sent_again_with_its_key() -> None:
    server = FakeServer(
        lose_the_answer,
        no(503, "shutting_down", headers={"Retry-After": "0"}),
        answer(RUN, status=202),
    )
    async with asking(server) as client:
        run = await client.session(SessionId("ses_1")).prompt("Hi", when_busy=WhenBusy.STEER)
    assert run.id == "run_1"
    first, *again = server.asked
    assert msgspec.json.decode(first.body) == {"input": "Hi", "when_busy": "steer"}
    assert first.headers["Idempotency-Key"]
    assert first.headers["Authorization"] == "Bearer secret"
    assert [asked.body for asked in again] == [first.body, first.body]
    keys = {asked.headers["Idempotency-Key"] for asked in server.asked}
    assert len(keys) == 1


async def test_two_prompts_have_two_keys() -> None:
    server = FakeServer(answer(RUN, status=202), answer(RUN, status=202))
    async with asking(server) as client:
        session = client.session(SessionId("ses_1"))
        await session.prompt("Hi")
        await session.prompt("Hi")
    assert len({asked.headers["Idempotency-Key"] for asked in server.asked}) == 2


async def test_a_caller_s_own_key_is_used() -> None:
    server = FakeServer(answer(SESSION, status=201))
    async with asking(server) as client:
        await client.create_session(title="Mine", idempotency_key="mine")
    assert server.asked[0].headers["Idempotency-Key"] == "mine"
    assert msgspec.json.decode(server.asked[0].body) == {"title": "Mine"}


async def test_an_upload_is_the_same_bytes_each_time() -> None:
    server = FakeServer(lose_the_answer, answer(FILE, status=201))
    async with asking(server) as client:
        info = await client.upload("a.txt", b"\x00", media_type="text/plain")
    assert info.id == "fil_1"
    first, second = server.asked
    assert (first.body, first.headers["Content-Type"]) == (
        second.body,
        second.headers["Content-Type"],
    )
    assert first.headers["Content-Type"].startswith("multipart/form-data; boundary=")


async def test_a_cancel_is_not_sent_twice() -> None:
    """The second could stop a prompt that came after the first."""
    server = FakeServer(lose_the_answer)
    async with asking(server) as client:
        with pytest.raises(ConnectionLost):
            await client.session(SessionId("ses_1")).cancel()
    assert len(server.asked) == 1


async def test_a_cancel_of_one_run_is_sent_until_it_is_answered() -> None:
    server = FakeServer(lose_the_answer, answer({**RUN, "status": "cancelled", "reason": "user"}))
    async with asking(server) as client:
        assert (await client.run(RunId("run_1")).cancel()).status == "cancelled"


async def test_a_delete_whose_answer_is_lost_is_done_when_nothing_is_left() -> None:
    server = FakeServer(lose_the_answer, no(404, "not_found"))
    async with asking(server) as client:
        await client.session(SessionId("ses_1")).delete()


async def test_a_delete_of_what_was_never_there_is_an_error() -> None:
    server = FakeServer(no(404, "not_found"))
    async with asking(server) as client:
        with pytest.raises(ApiError) as refusal:
            await client.session(SessionId("ses_1")).delete()
    assert (refusal.value.status, refusal.value.code) == (404, "not_found")


async def test_a_server_that_stays_unready_is_reported_as_it_said() -> None:
    server = FakeServer(no(503, "shutting_down", headers={"Retry-After": "30"}))
    async with asking(server) as client:
        with pytest.raises(ApiError, match="503 shutting_down"):
            await client.models()


async def test_an_answer_that_is_not_from_our_server_is_an_api_error_too() -> None:
    server = FakeServer()
    async with asking(server) as client:
        with pytest.raises(ApiError, match="500 unknown: nobody expected this request"):
            await client.models()


async def test_sessions_come_page_by_page() -> None:
    server = FakeServer(
        answer({"sessions": [SESSION], "next": "c2"}),
        answer({"sessions": [{**SESSION, "id": "ses_2"}], "next": None}),
    )
    async with asking(server) as client:
        found = [session.id async for session in client.sessions(q="tea & cake", archived=True)]
    assert found == ["ses_1", "ses_2"]
    assert [asked.query for asked in server.asked] == [
        {"q": "tea & cake", "archived": "true"},
        {"q": "tea & cake", "archived": "true", "cursor": "c2"},
    ]


async def test_a_change_sends_only_what_was_named() -> None:
    server = FakeServer(answer(SESSION))
    async with asking(server) as client:
        await client.session(SessionId("ses_1")).update(model=None, pinned=True)
    assert msgspec.json.decode(server.asked[0].body) == {"model": None, "pinned": True}
