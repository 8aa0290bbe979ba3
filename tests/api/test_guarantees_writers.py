"""Many writers of one session (H6–H11): serialised, atomic, never half."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from tenuto.client import ApiError, RunHandle, SessionHandle, Snapshot
from tests.oracle.fold import fold
from tests.support.log import assert_settled
from tests.support.model_server import Exchange, ModelServer
from tests.support.raw import RawApi
from tests.support.server import TenutoServer
from tests.support.watch import outline, until, until_text

pytestmark = pytest.mark.anyio


async def say(model: ModelServer, session: SessionHandle, prompt: str, text: str) -> RunHandle:
    run = await session.prompt(prompt)
    await (await model.next_request()).say(text)
    assert (await run.wait()).status == "completed"
    return run


@pytest.mark.guarantee("H6")
async def test_two_writers_never_mix_their_fields(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    """Each writer sets title, draft and system to one word: all three must always agree."""
    run = await session.prompt("Count")
    exchange = await model.next_request()
    await session.update(title="start", draft="start", system="start")
    states: list[tuple[str, str, str | None]] = []

    async def write(name: str) -> None:
        async with server.client() as client:
            for n in range(15):
                word = f"{name}{n}"
                after = await client.session(session.id).update(title=word, draft=word, system=word)
                states.append((after.title, after.draft, after.system))

    async def stream() -> None:
        for n in range(30):
            await exchange.text(f"{n} ")

    async with anyio.create_task_group() as group:
        for name in "abc":
            group.start_soon(write, name)
        group.start_soon(stream)
    await exchange.finish()
    assert (await run.wait()).status == "completed"
    assert [state for state in states if len(set(state)) > 1] == []
    events = await assert_settled(raw, session.id)
    told = fold(events).session
    now = await raw.get(f"/api/sessions/{session.id}")
    assert {name: now[name] for name in told} == told
    written = [e["changes"]["title"] for e in events if "draft" in e.get("changes", {})]
    assert sorted(written) == sorted(["start", *(f"{w}{n}" for w in "abc" for n in range(15))])


@pytest.mark.guarantee("H7")
@pytest.mark.failure(18, 30, 42, 45)
@pytest.mark.parametrize("ends", ["well", "badly", "before it began"])
async def test_the_last_write_of_a_run_and_all_others_wait_for_each_other(
    ends: str, model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    await say(model, session, "Hi", "Hello")
    for n in range(8):
        run = await session.prompt(f"Count {n}")
        exchange = await request_for(model, f"Count {n}")
        if ends != "before it began":
            await exchange.text("one")
        others: list[Callable[[], Awaitable[object]]] = [
            session.cancel,
            session.undo,
            session.retry,
            lambda: session.update(draft="x"),
        ]
        async with anyio.create_task_group() as group:
            group.start_soon(_end, exchange, ends)
            for other in others[n % 2 :: 2] if n < 4 else others:
                group.start_soon(_try, other)
        assert (await run.wait()).ended
        await session.cancel()
        for left in model.exchanges:
            await until(_over(left))
        await assert_settled(raw, session.id)
    run = await session.prompt("Still there?")
    await (await request_for(model, "Still there?")).say("Yes")
    assert (await run.wait()).status == "completed"


@pytest.mark.guarantee("H8")
@pytest.mark.failure(43, 51)
@pytest.mark.parametrize("server_env", [{"TENUTO_TITLES": "on"}])
async def test_a_generated_title_never_replaces_the_users(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("What is tea?")
    answer, title = await _answer_and_title(model)
    assert (await run.wait()).status == "completed"
    named = await session.get()
    assert (named.title, named.title_source) == ("What is tea?", "provisional")
    await session.update(title="Mine")
    await title.say("About tea")

    async def done() -> bool:
        return title.ended == "finished"

    await until(done)
    second = await session.prompt("And coffee?")
    await (await model.next_request()).say("Also nice")
    assert (await second.wait()).status == "completed"
    after = await session.get()
    assert (after.title, after.title_source) == ("Mine", "user")
    said = outline((await session.messages()).messages)
    assert [text for _, text, _ in said] == ["What is tea?", "A plant", "And coffee?", "Also nice"]
    assert answer.ended == "finished"


@pytest.mark.guarantee("H8")
@pytest.mark.parametrize("server_env", [{"TENUTO_TITLES": "on"}])
async def test_a_title_is_generated_where_the_user_gave_none(
    model: ModelServer, session: SessionHandle
) -> None:
    await session.prompt("What is tea?")
    _, title = await _answer_and_title(model)
    await title.say("About tea")

    async def titled() -> bool:
        now = await session.get()
        return (now.title, now.title_source) == ("About tea", "auto")

    await until(titled)
    assert len((await session.messages()).messages) == 2


@pytest.mark.guarantee("H9")
async def test_undo_is_one_change_to_everyone_who_looks(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    for n in range(3):
        await say(model, session, f"prompt {n}", f"answer {n}")
    states = {tuple(outline((await session.messages()).messages))}
    for _ in range(3):
        seen: set[tuple[Any, ...]] = set()
        before = tuple(outline((await session.messages()).messages))
        undone = anyio.Event()

        async def look(seen: set[tuple[Any, ...]] = seen, undone: anyio.Event = undone) -> None:
            async with server.client() as client:
                while not undone.is_set():
                    reloaded = await client.session(session.id).messages()
                    seen.add(tuple(outline(reloaded.messages)))

        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(look)
            answer = await session.undo()
            undone.set()
        after = tuple(outline((await session.messages()).messages))
        assert (len(answer.removed), after) == (2, before[:-2])
        assert seen <= {before, after}
        states.add(after)
    with pytest.raises(ApiError, match="409 nothing_to_undo"):
        await session.undo()
    assert len(states) == 4
    await assert_settled(raw, session.id)


@pytest.mark.guarantee("H9")
async def test_retry_removes_and_asks_again_in_one_change(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    await say(model, session, "Hi", "Hello")
    again = await session.retry()
    await (await model.next_request()).say("Hello again")
    assert (await again.wait()).status == "completed"
    events = await assert_settled(raw, session.id)
    (rewound,) = [event for event in events if event["type"] == "session.rewound"]
    following = events[rewound["seq"]]
    assert (following["type"], following["run_id"]) == ("run.accepted", again.id)
    assert following["at"] == rewound["at"]
    assert outline((await session.messages()).messages) == [
        ("user", "Hi", "end_turn"),
        ("assistant", "Hello again", "end_turn"),
    ]


@pytest.mark.guarantee("H9")
@pytest.mark.failure(42)
async def test_undo_and_retry_wait_for_the_run_to_end(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Count")
    exchange = await model.next_request()
    await exchange.text("one")
    for change in (session.undo, session.retry):
        with pytest.raises(ApiError, match="409 session_busy"):
            await change()
    await exchange.finish()
    assert (await run.wait()).status == "completed"
    await session.undo()
    assert (await session.messages()).messages == ()
    await assert_settled(raw, session.id)


@pytest.mark.guarantee("H10")
async def test_cancel_clears_everything_that_says_running_at_once(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    for n in range(5):
        run = await session.prompt(f"Count {n}")
        exchange = await model.next_request()
        await exchange.text("one")
        await until_text(run, "one")
        snapshots: list[Snapshot] = []
        stopped = anyio.Event()

        async def look(
            snapshots: list[Snapshot] = snapshots, stopped: anyio.Event = stopped
        ) -> None:
            async with server.client() as client:
                while not stopped.is_set():
                    items = client.session(session.id).events(after="now")
                    item = await anext(items)
                    await items.aclose()
                    assert isinstance(item, Snapshot)
                    snapshots.append(item)

        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(look)
            await until(_some(snapshots))
            await session.cancel()
            stopped.set()
        for snapshot in snapshots:
            signs = {
                snapshot.session.state == "running",
                snapshot.session.active_run is not None,
                any(not run.ended for run in snapshot.runs),
                any(m.finish_reason is None for m in snapshot.messages),
            }
            assert len(signs) == 1, snapshot
        await assert_settled(raw, session.id)


async def request_for(model: ModelServer, prompt: str) -> Exchange:
    """The request for this prompt; older ones, of runs that were stopped, are passed over."""
    while (exchange := await model.next_request()).prompt != prompt:
        pass
    return exchange


async def _end(exchange: Exchange, how: str) -> None:
    try:
        if how == "well":
            await exchange.finish()
        elif how == "badly":
            await exchange.complain()
        else:
            await exchange.fail(401, "no")
    except ConnectionError:
        return  # A cancel was first.


async def _try(change: Callable[[], Awaitable[object]]) -> None:
    """Do it if the session's state allows it; nothing but a conflict may stand in the way."""
    try:
        await change()
    except ApiError as refusal:
        assert refusal.code in ("session_busy", "nothing_to_undo"), refusal


async def _answer_and_title(model: ModelServer) -> tuple[Exchange, Exchange]:
    """The answer, said; and the request for a title, held. Only the first brings tools."""
    exchange = await model.next_request()
    assert exchange.body.get("tools")
    await exchange.say("A plant")
    title = await model.next_request()
    assert not title.body.get("tools")
    return exchange, title


def _over(exchange: Exchange) -> Callable[[], Awaitable[bool]]:
    async def over() -> bool:
        return exchange.ended != "open"

    return over


def _some(things: list[Any]) -> Callable[[], Awaitable[bool]]:
    async def some() -> bool:
        return len(things) >= 3

    return some
