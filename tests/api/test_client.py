"""The client against the real server: what it is given once, it gives once, through crashes."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing

import anyio
import pytest

from tenuto.client import Client, Item, Patience, RunHandle, Seen, SessionHandle, Snapshot
from tenuto.core.approval import Decision
from tenuto.core.event import ApprovalRequested, RunFinished, SessionCreated, SessionDeleted
from tenuto.core.message import ToolPart
from tenuto.core.run import RunStatus, WhenBusy
from tenuto.core.session import DEFAULT_WORKSPACE
from tests.support.log import assert_settled
from tests.support.model_server import ModelServer, answer
from tests.support.raw import RawApi
from tests.support.server import TenutoServer
from tests.support.watch import outline, until, until_event, until_text

pytestmark = pytest.mark.anyio


@pytest.mark.failure(6, 15)
async def test_an_events_iterator_survives_kill_9_without_a_gap_or_a_repeat(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    seen: list[Item] = []

    async def watch() -> None:
        async for item in session.events():
            seen.append(item)  # noqa: PERF401 (looked at while it grows)

    async def caught_up() -> bool:
        return bool(seen) and seen[-1].seq == (await session.get()).head

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        for n in range(4):
            run = await session.prompt(f"Count {n}")
            exchange = await model.next_request()
            await exchange.text("one, ")
            await until_text(run, "one, ")
            await server.kill()
            await anyio.sleep(0.2)
            await server.start()
            assert (await run.wait()).status == "interrupted"
        await until(caught_up)
        await session.delete()
    assert [item.seq for item in seen] == list(range(1, len(seen) + 1))
    assert all(isinstance(item, Seen) for item in seen)
    endings = [i for i in seen if isinstance(i, Seen) and isinstance(i.event, RunFinished)]
    assert len(endings) == 4
    assert isinstance(seen[-1], Seen) and isinstance(seen[-1].event, SessionDeleted)


async def test_a_run_is_followed_to_its_end_through_a_stop_and_a_start(
    model: ModelServer, server: TenutoServer, session: SessionHandle
) -> None:
    active, queued = await session.prompt("one"), await session.prompt("two")
    exchange = await model.next_request()
    endings: dict[str, RunStatus] = {}

    async def follow(run: RunHandle) -> None:
        items = [item async for item in run.events()]
        assert isinstance(items[-1], Seen) and isinstance(items[-1].event, RunFinished)
        endings[run.id] = items[-1].event.run.status

    async with anyio.create_task_group() as group:
        group.start_soon(follow, active)
        group.start_soon(follow, queued)
        await exchange.text("1")
        await until_text(active, "1")
        server.env["TENUTO_DRAIN"] = "0"
        await server.kill()
        await server.start()
        await (await model.next_request()).text("2")
        assert await server.terminate() == 0
        await server.start()
    assert endings == {active.id: "interrupted", queued.id: "interrupted"}


@pytest.mark.failure(14, 19)
async def test_prompts_sent_through_crashes_are_each_accepted_once(
    model: ModelServer, server: TenutoServer, raw: RawApi, tenuto: Client, session: SessionHandle
) -> None:
    model.script(answer("fine"))
    runs: list[RunHandle] = []
    crashes = 0

    async def crash() -> None:
        nonlocal crashes
        while len(runs) < 30:
            # Each life takes a few prompts, and is cut off while it takes the next.
            enough = len(runs) + 7
            await until(_async(lambda: len(runs) >= enough))  # noqa: B023
            await server.kill()
            await server.start()
            crashes += 1

    quick = Patience(first_seconds=0.05, longest_seconds=0.2)
    async with server.client(patience=quick) as client, anyio.create_task_group() as group:
        group.start_soon(crash)
        for n in range(40):
            run = await client.session(session.id).prompt(f"prompt {n}")
            runs.append(tenuto.run(run.id))
    assert crashes >= 3
    assert [(await run.wait()).ended for run in runs] == [True] * 40
    inputs = [run.input async for run in session.runs()]
    assert inputs == [f"prompt {n}" for n in reversed(range(40))]
    await assert_settled(raw, session.id)


async def test_a_late_client_is_given_a_snapshot_and_what_follows(
    model: ModelServer, session: SessionHandle
) -> None:
    run = await session.prompt("Count")
    exchange = await model.next_request()
    await exchange.text("one, ")
    await until_text(run, "one, ")
    async with aclosing(session.events(after="now")) as items:
        first = await anext(items)
        assert isinstance(first, Snapshot)
        assert outline(first.messages)[1] == ("assistant", "one, ", None)
        assert [r.id for r in first.runs] == [run.id]
        await exchange.text("two")
        second = await anext(items)
        assert second.seq == first.seq + 1
    await exchange.finish()
    assert (await run.wait()).status == "completed"
    # A cursor that is past the run's end, and one that is past the log's.
    assert [item async for item in run.events(after=(await session.get()).head)] == []
    (ahead,) = [item async for item in run.events(after=10_000)]
    assert isinstance(ahead, Snapshot)


@pytest.mark.one_node("it counts the nodes")
async def test_every_call_of_the_api_has_its_method(
    model: ModelServer, server: TenutoServer, tenuto: Client, session: SessionHandle
) -> None:
    models = await tenuto.models()
    assert models.default == "openai/test-model"
    assert [(m.id, m.provider) for m in models.models] == [("openai/test-model", "openai")]
    (node,) = await tenuto.nodes()
    assert (node.name, node.state, node.active_runs) == ("local", "alive", 0)
    folder = server.data.parent / "work"
    await anyio.Path(folder).mkdir()
    workspace = await tenuto.create_workspace("work", path=str(folder))
    renamed = await tenuto.update_workspace(workspace.id, name="other")
    assert (await tenuto.workspace(workspace.id)) == renamed
    assert {w.id for w in await tenuto.workspaces()} == {DEFAULT_WORKSPACE, workspace.id}
    there = await tenuto.create_session(workspace=workspace.id, title="There")
    async with aclosing(tenuto.workspace_events(workspace.id)) as items:
        first = await anext(items)
        assert isinstance(first, Seen) and isinstance(first.event, SessionCreated)
        assert first.event.session.id == there.id
    assert [s.id async for s in tenuto.sessions(workspace=DEFAULT_WORKSPACE)] == [session.id]
    await tenuto.delete_workspace(workspace.id)
    assert [s.id async for s in tenuto.sessions(limit=1)] == [session.id]


async def test_a_queue_can_be_edited_and_answers_can_be_changed(
    model: ModelServer, tenuto: Client, session: SessionHandle
) -> None:
    active = await session.prompt("one")
    exchange = await model.next_request()
    second, third = await session.prompt("two"), await session.prompt("three")
    taken_back = await session.prompt("never")
    assert (await third.edit(input="3", position=0)).input == "3"
    assert (await second.edit(when_busy=WhenBusy.STEER)).when_busy == "steer"
    await taken_back.withdraw()
    assert (await taken_back.get()).reason == "withdrawn"
    await exchange.say("1")
    model.script(answer("more"))
    assert [(await r.wait()).status for r in (active, second, third)] == ["completed"] * 3
    assert {r.id async for r in tenuto.runs(status=RunStatus.CANCELLED)} == {taken_back.id}
    user = (await session.messages()).messages[0]
    edited = await session.edit(user.id, "uno")
    assert (await edited.wait()).status == "completed"
    fork = await session.fork()
    said = outline((await fork.messages()).messages)
    assert said == [("user", "uno", "end_turn"), ("assistant", "more", "end_turn")]
    assert len((await session.undo()).removed) == 2


async def test_an_approval_is_answered(
    model: ModelServer, server: TenutoServer, tenuto: Client, session: SessionHandle
) -> None:
    run = await session.prompt("Write")
    exchange = await model.next_request()
    await exchange.tool_call(0, "call_1", "write_file")
    await exchange.tool_input(0, '{"path": "a.txt", "content": "b"}')
    await exchange.finish("tool_calls")
    asked = await until_event(run, ApprovalRequested)
    assert (await session.get()).state == "waiting"
    given = await tenuto.answer(asked.approval.id, Decision.ALLOW_ONCE)
    assert given.state == "allowed"
    await (await model.next_request()).say("Done")
    assert (await run.wait()).status == "completed"
    (tool,) = [
        p for m in (await session.messages()).messages for p in m.parts if isinstance(p, ToolPart)
    ]
    assert tool.state == "done"


def _async(true: Callable[[], bool]) -> Callable[[], Awaitable[bool]]:
    async def check() -> bool:
        return true()

    return check
