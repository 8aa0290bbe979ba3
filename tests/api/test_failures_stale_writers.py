"""Writers of the past: lines 41 to 45 of the failure ledger."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress

import anyio
import pytest

from tenuto.client import ApiError, Client, RunHandle, SessionHandle
from tenuto.core.event import RunStarted
from tenuto.core.run import WhenBusy
from tests.support.log import assert_settled
from tests.support.model_server import ClientGone, Exchange, ModelServer
from tests.support.raw import RawApi
from tests.support.server import TenutoServer
from tests.support.talk import say
from tests.support.watch import outline, until, until_event, until_text

pytestmark = pytest.mark.anyio

WITH_TITLES = pytest.mark.parametrize("server_env", [{"TENUTO_TITLES": "on"}])


@pytest.mark.failure(41)
async def test_what_an_interrupted_worker_still_says_does_not_reach_the_log(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    old = await session.prompt("old")
    late = await model.next_request()
    await late.text("old words ")
    await until_text(old, "old words ")
    new = await session.prompt("new", when_busy=WhenBusy.INTERRUPT)
    with suppress(ClientGone):
        for _ in range(200):
            await late.text("LATE ")
            await anyio.sleep(0.001)
    await (await model.next_request()).say("new words")
    assert (await new.wait()).status == "completed"
    ended = await old.wait()
    assert (ended.status, ended.reason) == ("cancelled", "replaced")
    before_end, _, after_end = str(await assert_settled(raw, session.id)).partition("'replaced'")
    assert "LATE" not in after_end and "old words" in before_end
    assert outline((await session.messages()).messages)[2:] == [
        ("user", "new", "end_turn"),
        ("assistant", "new words", "end_turn"),
    ]


@pytest.mark.failure(41)
async def test_a_deleted_session_is_not_brought_back_by_its_run(
    model: ModelServer, server: TenutoServer, raw: RawApi, tenuto: Client, session: SessionHandle
) -> None:
    run = await session.prompt("A secret word: xylophone")
    queued = await session.prompt("More of it: xylophone")
    exchange = await model.next_request()
    await exchange.text("xylophone ")
    await until_text(run, "xylophone ")
    deleted = anyio.Event()

    async def talk_on() -> None:
        with suppress(ClientGone):
            while True:
                await exchange.text("xylophone ")
                await anyio.sleep(0.001)

    async with anyio.create_task_group() as group:
        group.start_soon(talk_on)
        await session.delete()
        deleted.set()
    for _ in range(2):
        for path in (f"sessions/{session.id}", f"runs/{run.id}", f"runs/{queued.id}"):
            assert (await raw.call("GET", f"/api/{path}")).status == 404
        assert [found.id async for found in tenuto.sessions()] == []
        assert [found.id async for found in tenuto.sessions(q="xylophone")] == []
        await server.kill()
        await server.start()
    assert len(model.exchanges) == 1


@WITH_TITLES
@pytest.mark.failure(41)
async def test_a_deleted_session_is_not_brought_back_by_its_title(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("What is tea?")
    await (await model.next_request()).say("A plant")
    title = await model.next_request()
    assert (await run.wait()).status == "completed"
    await session.delete()
    with suppress(ClientGone):
        await title.say("About tea")

    async def over() -> bool:
        return title.ended != "open"

    await until(over)
    assert (await raw.call("GET", f"/api/sessions/{session.id}")).status == 404
    await server.terminate()
    await server.start()
    assert (await raw.get("/api/sessions"))["sessions"] == []
    assert "Traceback" not in server.log()


@pytest.mark.failure(42)
async def test_undone_messages_never_come_back(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    await say(model, session, "one", "1")
    crashed = await session.prompt("REMOVED")
    await (await model.next_request()).text("GONE")
    await until_text(crashed, "GONE")
    with pytest.raises(ApiError, match="409 session_busy"):
        await session.undo()
    await server.kill()
    await server.start()
    assert (await crashed.wait()).status == "interrupted"
    assert len((await session.undo()).removed) == 2
    kept = outline((await session.messages()).messages)
    assert kept == [("user", "one", "end_turn"), ("assistant", "1", "end_turn")]
    await server.kill()
    await server.start()
    await session.update(title="Named")
    run = await session.prompt("two")
    exchange = await model.next_request()
    assert "REMOVED" not in str(exchange.messages) and "GONE" not in str(exchange.messages)
    await exchange.say("2")
    assert (await run.wait()).status == "completed"
    async with raw.sse(f"/api/sessions/{session.id}/events", after="now") as stream:
        shown = (await stream.next()).data["messages"]
    assert "REMOVED" not in str(shown)
    fork = await session.fork()
    assert outline((await fork.messages()).messages) == [
        *kept,
        ("user", "two", "end_turn"),
        ("assistant", "2", "end_turn"),
    ]
    await assert_settled(raw, session.id)


@WITH_TITLES
@pytest.mark.failure(43)
async def test_a_rename_that_races_a_title_always_wins(model: ModelServer, tenuto: Client) -> None:
    for n in range(8):
        session = await tenuto.create_session()
        run = await session.prompt("What is tea?")
        await (await model.next_request()).say("A plant")
        title = await model.next_request()
        assert (await run.wait()).status == "completed"
        async with anyio.create_task_group() as group:
            group.start_soon(title.say, "About tea")
            await anyio.sleep(n * 0.001)
            await session.update(title="Mine")
        named = await session.get()
        assert (named.title, named.title_source) == ("Mine", "user")
        await session.prompt("And coffee?", when_busy=WhenBusy.REJECT)
        await (await model.next_request()).say("Also nice")
        named = await session.get()
        assert (named.title, named.title_source) == ("Mine", "user")


@pytest.mark.failure(44)
async def test_attaching_changes_nothing_about_who_owns_the_run(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Count")
    exchange = await model.next_request()
    await exchange.text("one ")
    async with AsyncExitStack() as stack:
        for n in range(30):
            owner = f"/api/runs/{run.id}" if n % 2 else f"/api/sessions/{session.id}"
            after = "now" if n % 3 else None
            await (await stack.enter_async_context(raw.sse(owner + "/events", after=after))).next()
            await raw.get(f"/api/sessions/{session.id}/messages")
        async with server.client() as another:
            looked = await another.session(session.id).get()
            assert (looked.state, looked.active_run) == ("running", run.id)
            with pytest.raises(ApiError, match="409 session_busy"):
                await another.session(session.id).prompt("Me too", when_busy=WhenBusy.REJECT)
            with pytest.raises(ApiError, match="409 session_busy"):
                await another.session(session.id).undo()
            await exchange.text("two ")
            await until_text(run, "one two ")
            answer = await another.session(session.id).cancel()
    assert (answer.cancelled, answer.settled) == ((run.id,), True)
    await exchange.closed()
    assert len(model.exchanges) == 1
    await assert_settled(raw, session.id)


@pytest.mark.failure(45)
@pytest.mark.parametrize("change", ["retry", "edit", "compact", "undo"])
async def test_a_change_of_history_that_races_a_new_prompt_never_swallows_it(
    change: str, model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    answering = anyio.Event()

    async def answer_when_told(exchange: Exchange) -> None:
        await answering.wait()
        await exchange.say("an answer")

    model.script(answer_when_told)
    for n in range(6):
        answering.set()
        base = await session.prompt(f"base {n}")
        assert (await base.wait()).status == "completed"
        answering = anyio.Event()
        message = (await session.messages()).messages[-2]
        changes: dict[str, Callable[[], Awaitable[object]]] = {
            "retry": session.retry,
            "edit": lambda m=message: session.edit(m.id, "edited"),  # type: ignore[misc]
            "compact": session.compact,
            "undo": session.undo,
        }
        prompted: list[RunHandle] = []

        async def prompt(prompted: list[RunHandle] = prompted, n: int = n) -> None:
            prompted.append(await session.prompt(f"new {n}"))

        async with anyio.create_task_group() as group:
            deeds = [prompt, lambda c=change, cs=changes: _unless_busy(cs[c])]
            for deed in deeds if n % 2 else reversed(deeds):
                group.start_soon(deed)
            with anyio.fail_after(10):
                while not prompted:  # noqa: ASYNC110
                    await anyio.sleep(0.001)
            # Nothing is answered before both were asked, so neither can undo the other's work.
            await anyio.sleep(0.02)
            answering.set()
        assert (await prompted[0].wait()).status == "completed"
        users = [m for m in (await session.messages()).messages if m.role == "user"]
        assert [text for _, text, _ in outline(tuple(users))].count(f"new {n}") == 1
        await assert_settled(raw, session.id)


async def _unless_busy(change: Callable[[], Awaitable[object]]) -> None:
    try:
        result = await change()
        if isinstance(result, RunHandle):
            await until_event(result, RunStarted)
            await result.wait()
    except ApiError as refusal:
        assert refusal.code == "session_busy", refusal
