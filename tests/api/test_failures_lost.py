"""Content lost: lines 1 to 14 of the failure ledger."""

import anyio
import pytest

from tenuto.client import Client, SessionHandle
from tenuto.core.event import RunFinished
from tenuto.core.message import ToolPart
from tenuto.core.value import RunId
from tests.support.log import assert_settled, fold_frames
from tests.support.model_server import ModelServer
from tests.support.raw import RawApi
from tests.support.server import TenutoServer
from tests.support.talk import DONE, chunk, new_sessions, say, start_shell
from tests.support.watch import outline, until_event, until_text

pytestmark = pytest.mark.anyio


@pytest.mark.failure(3, 4, 5, 7)
async def test_a_provider_s_error_keeps_reasoning_text_and_tool_calls_and_the_model_knows_them(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Look")
    exchange = await model.next_request()
    await exchange.reasoning("Hmm. ")
    await exchange.text("Well, ")
    await exchange.tool_call(0, "call_1", "read_file")
    await exchange.tool_input(0, '{"pa')
    await until_text(run, '{"pa')
    await exchange.complain()
    ended = await run.wait()
    assert (ended.status, ended.reason) == ("failed", "provider_error")
    _, kept = (await session.messages()).messages
    assert outline((kept,)) == [("assistant", "[Hmm. ]Well, <ToolPart>", "error")]
    tool = kept.parts[-1]
    assert isinstance(tool, ToolPart)
    assert (tool.state, tool.input_text) == ("cancelled", '{"pa')
    await session.prompt("Go on")
    told = (await model.next_request()).messages
    calls = [call["id"] for message in told for call in message.get("tool_calls") or []]
    results = [message["tool_call_id"] for message in told if message["role"] == "tool"]
    assert len(calls) == 1
    assert results == calls
    assert "Well, " in str(told)
    await session.cancel()
    await assert_settled(raw, session.id)


@pytest.mark.failure(6, 7)
async def test_what_a_crash_left_is_told_to_the_model_in_its_place(
    model: ModelServer, server: TenutoServer, session: SessionHandle
) -> None:
    run = await session.prompt("What is the number?")
    exchange = await model.next_request()
    await exchange.text("It is 4711, ")
    await until_text(run, "4711")
    await server.kill()
    await server.start()
    assert (await run.wait()).status == "interrupted"
    await session.prompt("Say it again")
    exchange = await model.next_request()
    told = [m for m in exchange.messages if m["role"] != "system"]
    assert [message["role"] for message in told] == ["user", "assistant", "user"]
    assert told[0]["content"] == "What is the number?"
    assert told[1]["content"] == "It is 4711, "
    assert "cut off there because the server stopped" in told[2]["content"]
    assert exchange.prompt == "Say it again"


@pytest.mark.failure(8)
@pytest.mark.parametrize("end", ["with the last piece", "right after the last piece"])
async def test_no_piece_of_a_flood_is_lost_and_not_the_last_one_either(
    end: str, model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    pieces = [f"{n:04d} " for n in range(6000)]
    run = await session.prompt("Flood")
    exchange = await model.next_request()
    async with (
        raw.sse(f"/api/runs/{run.id}/events") as of_run,
        raw.sse(f"/api/sessions/{session.id}/events", after="now") as of_session,
    ):
        await of_session.next()
        flood = [chunk({"content": piece}) for piece in pieces]
        if end == "with the last piece":
            flood[-1] = chunk({"content": pieces[-1]}, finish="stop")
        else:
            flood.append(chunk({}, finish="stop"))
        # In three writes: the tail comes in one with the end of everything.
        await exchange.raw(b"".join(flood[:3000]))
        await exchange.raw(b"".join(flood[3000:5990]))
        await exchange.raw(b"".join(flood[5990:]) + DONE)
        await exchange.end()
        await of_run.to_the_end()
        await of_session.until("run.finished")
    whole = [("user", "Flood", "end_turn"), ("assistant", "".join(pieces), "end_turn")]
    assert outline((await session.messages()).messages) == whole
    for stream in (of_run, of_session):
        answer = fold_frames(stream.frames).messages[-1]
        assert "".join(part["text"] for part in answer["parts"]) == "".join(pieces)
    await assert_settled(raw, session.id)


@pytest.mark.one_node(
    "what a dead node left is settled within seconds, not before the next one is ready"
)
@pytest.mark.failure(9)
async def test_no_object_in_memory_is_ever_saved_over_history(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    """After a restart nothing is in memory: a write that began from there would empty the log."""
    await say(model, session, "one", "1")
    run = await session.prompt("two")
    await (await model.next_request()).text("half")
    await until_text(run, "half")
    before = (await session.messages()).messages
    await server.kill()
    await server.start()
    await session.update(title="Named first thing", draft="x", pinned=True)
    await session.cancel()
    assert [m.id for m in (await session.messages()).messages] == [m.id for m in before]
    await server.terminate()
    await server.start()
    await session.update(draft="y")
    said = outline((await session.messages()).messages)
    assert said == [
        ("user", "one", "end_turn"),
        ("assistant", "1", "end_turn"),
        ("user", "two", "end_turn"),
        ("assistant", "half", "interrupted"),
    ]
    await assert_settled(raw, session.id)


@pytest.mark.failure(11)
async def test_queued_prompts_and_drafts_survive_a_crash_in_their_order(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    active = await session.prompt("one")
    await model.next_request()
    queued = [await session.prompt(word) for word in ("two", "three", "four")]
    await queued[2].edit(position=0)
    await queued[0].edit(input="two, changed")
    await session.update(draft="half a thought")
    await server.kill()
    await server.start()
    assert (await session.get()).draft == "half a thought"
    for prompt in ("four", "two, changed", "three"):
        exchange = await model.next_request()
        assert exchange.prompt == prompt
        await exchange.say(f"answer to {prompt}")
    assert [(await run.wait()).status for run in queued] == ["completed"] * 3
    assert (await active.wait()).status == "interrupted"
    await assert_settled(raw, session.id)


@pytest.mark.failure(12, 25)
@pytest.mark.parametrize("server_env", [{"TENUTO_PERMISSIONS": "allow"}])
async def test_a_second_stop_while_the_first_unwinds_loses_nothing(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    """The tool ignores the polite signal, so the first stop takes its time to save."""
    run, _ = await start_shell(
        model, session, "trap '' TERM; echo up; while :; do sleep 9; done", says="up"
    )
    covered = await session.prompt("covered")
    async with anyio.create_task_group() as group:
        group.start_soon(session.cancel)
        await until_event(covered, RunFinished)
        for _ in range(3):
            group.start_soon(session.cancel)
            group.start_soon(run.cancel)
    assert (await run.get()).status == "cancelled"
    answers = [m for m in (await session.messages()).messages if m.role == "assistant"]
    assert [m.finish_reason for m in answers] == ["cancelled", "cancelled"]
    (tool,) = answers[0].parts
    assert isinstance(tool, ToolPart)
    assert (tool.state, tool.output) == ("cancelled", "up")
    await say(model, session, "And now?", "Fine")
    await assert_settled(raw, session.id)


@pytest.mark.failure(14)
async def test_every_202_is_on_disk_when_it_is_answered(
    model: ModelServer, server: TenutoServer, raw: RawApi, tenuto: Client
) -> None:
    sessions = await new_sessions(tenuto, 10)
    accepted: dict[str, str] = {}

    async def ask(session: SessionHandle) -> None:
        for n in range(3):
            prompt = f"{session.id} {n}"
            answer = await raw.post(f"/api/sessions/{session.id}/runs", {"input": prompt})
            assert answer.status == 202
            accepted[answer.body["id"]] = prompt

    async with anyio.create_task_group() as group:
        for session in sessions:
            group.start_soon(ask, session)
    await server.kill()
    model.script(lambda exchange: exchange.say("back"))
    await server.start()
    for run_id, prompt in accepted.items():
        run = await raw.get(f"/api/runs/{run_id}")
        assert run["input"] == prompt
    for run_id in accepted:
        assert (await tenuto.run(RunId(run_id)).wait()).status in ("interrupted", "completed")
    for session in sessions:
        await assert_settled(raw, session.id)
