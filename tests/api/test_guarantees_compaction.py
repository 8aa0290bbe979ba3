"""Compaction and a session's identity (H11)."""

import anyio
import pytest

from tenuto.client import ApiError, Client, Compacted, SessionHandle
from tests.support.log import assert_settled
from tests.support.model_server import ModelServer
from tests.support.raw import RawApi
from tests.support.watch import outline

pytestmark = pytest.mark.anyio

SAID = [
    ("user", "one", "end_turn"),
    ("assistant", "answer one", "end_turn"),
    ("user", "two", "end_turn"),
    ("assistant", "answer two", "end_turn"),
]


@pytest.fixture
async def talked(model: ModelServer, session: SessionHandle) -> SessionHandle:
    for word in ("one", "two"):
        run = await session.prompt(word)
        await (await model.next_request()).say(f"answer {word}")
        assert (await run.wait()).status == "completed"
    return session


@pytest.mark.guarantee("H11")
@pytest.mark.failure(10)
async def test_compaction_changes_what_the_model_reads_and_nothing_else(
    model: ModelServer, raw: RawApi, talked: SessionHandle
) -> None:
    before = await talked.get()
    done: list[Compacted] = []

    async def compact() -> None:
        done.append(await talked.compact())

    async with anyio.create_task_group() as group:
        group.start_soon(compact)
        exchange = await model.next_request()
        asked = str(exchange.messages)
        for _, text, _ in SAID:
            assert text in asked
        for change in (talked.undo, talked.retry, talked.compact):
            with pytest.raises(ApiError, match="409 session_busy"):
                await change()
        await exchange.say("They counted.")
    assert (done[0].run.status, done[0].head) == ("completed", (await talked.get()).head)
    after = await talked.get()
    assert (after.id, after.created_at, after.title) == (before.id, before.created_at, before.title)
    assert outline((await talked.messages()).messages) == SAID
    run = await talked.prompt("three")
    exchange = await model.next_request()
    asked = str(exchange.messages)
    assert "They counted." in asked and "three" in asked
    assert "answer one" not in asked
    await exchange.say("answer three")
    assert (await run.wait()).status == "completed"
    events = await assert_settled(raw, talked.id)
    (compacted,) = [event for event in events if event["type"] == "session.compacted"]
    assert compacted["summary"] == "They counted."


@pytest.mark.guarantee("H11")
@pytest.mark.failure(10)
@pytest.mark.parametrize("stopped_by", ["cancel", "an error"])
async def test_compaction_that_does_not_come_to_its_end_leaves_the_session_as_it_was(
    stopped_by: str, model: ModelServer, raw: RawApi, talked: SessionHandle
) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(talked.compact)
        exchange = await model.next_request()
        if stopped_by == "cancel":
            await exchange.text("They")
            assert (await talked.cancel()).settled
            await exchange.closed()
        else:
            await exchange.fail(401, "no")
    assert outline((await talked.messages()).messages) == SAID
    run = await talked.prompt("three")
    exchange = await model.next_request()
    assert "answer one" in str(exchange.messages)
    await exchange.say("answer three")
    assert (await run.wait()).status == "completed"
    events = await assert_settled(raw, talked.id)
    assert not [event for event in events if event["type"] == "session.compacted"]


@pytest.mark.guarantee("H11")
@pytest.mark.failure(10, 41)
async def test_a_delete_during_compaction_breaks_nothing(
    model: ModelServer, raw: RawApi, tenuto: Client, talked: SessionHandle
) -> None:
    async with raw.sse(f"/api/sessions/{talked.id}/events") as stream:
        async with anyio.create_task_group() as group:
            group.start_soon(_compact_or_be_told, talked)
            exchange = await model.next_request()
            await exchange.text("They")
            await talked.delete()
            await exchange.closed()
        frames = await stream.to_the_end()
    assert frames[-1].event == "session.deleted"
    with pytest.raises(ApiError, match="404 not_found"):
        await talked.get()
    assert [session.id async for session in tenuto.sessions()] == []
    other = await tenuto.create_session()
    run = await other.prompt("Hi")
    await (await model.next_request()).say("Hello")
    assert (await run.wait()).status == "completed"
    await assert_settled(raw, other.id)


async def _compact_or_be_told(session: SessionHandle) -> None:
    """The caller of a compaction learns its ending, or that the session is gone."""
    try:
        assert (await session.compact()).run.status == "cancelled"
    except ApiError as refusal:
        assert refusal.code == "not_found"
