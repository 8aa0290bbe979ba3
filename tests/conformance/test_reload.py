"""A snapshot is the fold of the log, at every step of a session."""

import random

import pytest
from msgspec.structs import replace

from tenuto.core.approval import Approval, ApprovalState, Decision
from tenuto.core.event import PartField
from tenuto.core.message import ReasoningPart, TextPart, ToolPart, ToolState
from tenuto.core.run import Ending, Reason, RunStatus
from tenuto.core.session import SessionState
from tenuto.core.value import CallId, MessageId, PartId, RunId, SessionId
from tenuto.ports.store import Store
from tests.conformance.driven import (
    QUEUE,
    STEER,
    DrivenSession,
    fork_of,
    instant,
    new_session,
    whole_log,
)

pytestmark = pytest.mark.anyio

STALLED = Ending(status=RunStatus.FAILED, reason=Reason.PROVIDER_STALLED)
CRASHED = Ending(status=RunStatus.INTERRUPTED, reason=Reason.SERVER_CRASHED)


async def reload_equals_live(driven: DrivenSession) -> None:
    """What a reload shows is what someone who followed the log has."""
    folded = await driven.transcript()
    snapshot = await driven.store.snapshot(driven.id)
    assert snapshot.messages == folded.messages()
    in_order = sorted(folded.runs.values(), key=lambda run: run.accept_number)
    assert snapshot.runs == tuple(in_order)[-100:]
    assert snapshot.session.head == len(await whole_log(driven.store, driven.id))
    assert snapshot.session == await driven.store.session(driven.id)
    unfinished = [message for message in folded.messages() if message.finish_reason is None]
    assert await driven.store.open_message(driven.id) == (unfinished[0] if unfinished else None)
    assert len(unfinished) <= 1


@pytest.mark.guarantee("H3")
async def test_a_reload_equals_what_was_seen_live_after_every_piece(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await reload_equals_live(driven)
    await driven.accept("list the files")
    await reload_equals_live(driven)
    await driven.start()
    await reload_equals_live(driven)
    await driven.begin_part(ReasoningPart(id=PartId("prt_think")))
    for piece in ("hm", ", a", " shell"):
        await driven.go_on_saying(piece, part="prt_think")
        await reload_equals_live(driven)
    await driven.call_tool()
    await reload_equals_live(driven)
    await driven.say("Here", " they", " are")
    await reload_equals_live(driven)
    await driven.settle()
    await reload_equals_live(driven)
    answer = (await store.snapshot(driven.id)).messages[-1]
    assert [part.id for part in answer.parts] == ["prt_think", "prt_tool", "prt_text"]
    assert answer.text() == "Here they are"
    assert answer.finish_reason == "end_turn"


async def test_a_reload_equals_live_while_a_call_grows(store: Store) -> None:
    """Events carry only what is new of a call; the rest is what was there."""
    driven = await DrivenSession.begin(store)
    await driven.accept("list the files")
    await driven.start()
    streaming = ToolPart(id=PartId("prt_c"), call_id=CallId("call_c"), name="shell")
    await driven.begin_part(streaming)
    await driven.go_on_saying('{"command"', ': "ls"}', part="prt_c", field=PartField.INPUT)
    await reload_equals_live(driven)
    streamed = replace(streaming, input_text='{"command": "ls"}')
    running = replace(streamed, state=ToolState.RUNNING, input={"command": "ls"})
    await driven.change_call(streamed, running)
    await reload_equals_live(driven)
    for at, piece in ((0, "größe 🎈\n"), (8, "b\n")):
        await driven.go_on_saying(piece, part="prt_c", offset=at, field=PartField.OUTPUT)
        await reload_equals_live(driven)
    printed = replace(running, output="größe 🎈\nb\n")
    shortened = replace(printed, output="[shortened]\n")
    await driven.change_call(printed, shortened)
    await driven.go_on_saying("c", part="prt_c", offset=12, field=PartField.OUTPUT)
    await reload_equals_live(driven)
    done = replace(shortened, state=ToolState.DONE, output="[shortened]\nc", details={"n": 1})
    await driven.change_call(replace(shortened, output="[shortened]\nc"), done)
    await driven.settle()
    await reload_equals_live(driven)
    assert (await store.snapshot(driven.id)).messages[-1].parts == (done,)
    assert await store.fold_deltas(before=instant(59_000), limit=1000) == 2
    assert (await driven.transcript()).messages()[-1].parts == (done,)


async def test_a_reload_equals_live_through_steers_and_approvals(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.accept("clean up")
    await driven.start()
    tool = await driven.call_tool()
    approval = await driven.ask(tool)
    await reload_equals_live(driven)
    waiting = await store.snapshot(driven.id)
    assert waiting.session.state is SessionState.WAITING
    assert waiting.things == (approval,)
    await driven.answer(approval, Decision.ALLOW_ONCE)
    await reload_equals_live(driven)
    assert (await store.snapshot(driven.id)).things == ()
    assert (await store.thing(Approval, approval.id)).state is ApprovalState.ALLOWED
    await driven.update_part(replace(tool, state=ToolState.DONE, output="a b"))
    steered = await driven.accept("only the old ones", when_busy=STEER)
    await driven.steer()
    await reload_equals_live(driven)
    await driven.say("done")
    await driven.settle()
    await reload_equals_live(driven)
    roles = [message.role for message in (await store.snapshot(driven.id)).messages]
    assert roles == ["user", "assistant", "user", "assistant"]
    assert (await store.run(steered.id)).steered_into == driven.fence.run_id


@pytest.mark.failure(2, 3, 4)
async def test_a_cancelled_answer_keeps_every_part_that_streamed(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.accept("go")
    await driven.start()
    await driven.begin_part(ReasoningPart(id=PartId("prt_think")))
    await driven.go_on_saying("thinking", part="prt_think")
    await driven.say("some text")
    approval = await driven.ask(await driven.call_tool())
    await driven.cancel()
    await reload_equals_live(driven)
    run = await driven.settle()
    await reload_equals_live(driven)
    assert (run.status, run.reason) == (RunStatus.CANCELLED, Reason.USER)
    thinking, text, tool = (await store.snapshot(driven.id)).messages[-1].parts
    assert isinstance(thinking, ReasoningPart) and thinking.text == "thinking"
    assert isinstance(text, TextPart) and text.text == "some text"
    assert isinstance(tool, ToolPart) and tool.state is ToolState.CANCELLED
    assert (await store.thing(Approval, approval.id)).state is ApprovalState.CANCELLED


async def test_a_queued_prompt_under_a_cancel_keeps_its_text_and_one_empty_answer(
    store: Store,
) -> None:
    driven = await DrivenSession.begin(store)
    await driven.accept("never started")
    await driven.cancel()
    await reload_equals_live(driven)
    user, answer = (await store.snapshot(driven.id)).messages
    assert user.text() == "never started"
    assert (answer.parts, answer.finish_reason) == ((), "cancelled")


@pytest.mark.guarantee("H9")
@pytest.mark.failure(42)
async def test_undo_and_retry_remove_and_run_in_one_step(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.turn("one", "1")
    await driven.turn("two", "2")
    removed = await driven.undo()
    assert len(removed) == 2
    await reload_equals_live(driven)
    texts = [message.text() for message in (await store.snapshot(driven.id)).messages]
    assert texts == ["one", "1"]
    user = await store.user_message(driven.id, None)
    await driven.run_again(user.id, "one, but better")
    await reload_equals_live(driven)
    assert (await store.snapshot(driven.id)).messages == ()
    await driven.start()
    await driven.say("1!")
    await driven.settle()
    await reload_equals_live(driven)
    texts = [message.text() for message in (await store.snapshot(driven.id)).messages]
    assert texts == ["one, but better", "1!"]


async def test_a_fork_has_a_log_of_its_own_from_the_beginning(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.turn("one", "1")
    source = await store.snapshot(driven.id)
    events, finished = fork_of(source.messages, SessionId("ses_fork"))
    made = await store.create_session(new_session("fork", title="copy"), events, finished)
    assert made.head == len(events)
    fork = DrivenSession(store, made.id)
    await reload_equals_live(fork)
    await fork.turn("two", "2")
    await reload_equals_live(fork)
    texts = [message.text() for message in (await store.snapshot(fork.id)).messages]
    assert texts == ["one", "1", "two", "2"]
    assert await store.snapshot(driven.id) == source


@pytest.mark.failure(10)
async def test_a_compaction_changes_what_the_model_is_told_and_nothing_else(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.turn("one", "1")
    await driven.turn("two", "2")
    before = (await store.snapshot(driven.id)).messages
    await driven.compact(before[1].id, "they counted")
    await reload_equals_live(driven)
    assert (await store.snapshot(driven.id)).messages == before
    background = await store.background(driven.id)
    assert background.summary == "they counted"
    assert background.messages == before[2:]
    await driven.accept("three")
    await driven.start()
    await driven.say("thr", "ee")
    told = (await store.background(driven.id)).messages
    assert [message.text() for message in told] == ["two", "2", "three", "three"]
    assert told[-1].finish_reason is None


async def test_a_summary_of_removed_messages_goes_with_them(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.turn("one", "1")
    first = await store.user_message(driven.id, None)
    await driven.compact(first.id, "of the first")
    await driven.turn("two", "2")
    last = (await store.snapshot(driven.id)).messages[-1]
    await driven.compact(last.id, "of both")
    await driven.undo()
    background = await store.background(driven.id)
    assert background.summary == "of the first"
    assert [message.text() for message in background.messages] == ["1"]


@pytest.mark.failure(7)
async def test_a_run_that_goes_on_has_the_kept_partial_before_it(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.accept("count")
    await driven.start()
    await driven.say("1 2")
    run = await driven.settle(CRASHED)
    await driven.go_on(run.id)
    await driven.start()
    await driven.say("3 4", part="prt_more")
    await reload_equals_live(driven)
    texts = [message.text() for message in (await store.background(driven.id)).messages]
    assert texts == ["count", "1 2", "3 4"]


async def test_the_last_run_is_neither_withdrawn_nor_steered_nor_a_compaction(
    store: Store,
) -> None:
    driven = await DrivenSession.begin(store)
    await driven.accept("work")
    await driven.start()
    steer = await driven.accept("also", when_busy=STEER)
    back = await driven.accept("never mind")
    await driven.steer()
    await driven.withdraw(back.id)
    ended = await driven.settle(STALLED)
    await driven.compact((await store.user_message(driven.id, None)).id, "s")
    going_on = await driven.go_on(ended.id)
    assert going_on.continues == ended.id
    assert ended.id not in (steer.id, back.id)


async def test_queued_runs_start_in_the_order_of_the_queue(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    runs = [await driven.accept(f"prompt {n}") for n in range(3)]
    assert (await store.session(driven.id)).queued == 3
    started: list[RunId] = []
    for _ in runs:
        fence = await driven.start()
        assert fence is not None
        started.append(fence.run_id)
        await driven.settle()
    assert started == [run.id for run in runs]


async def test_a_run_remembers_where_it_was_accepted(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    first = await driven.accept("one")
    second = await driven.accept("two")
    assert (await store.placed_run(first.id)).accepted == 1
    placed = await store.placed_run(second.id)
    assert placed.run == second
    assert placed.head == (await store.session(driven.id)).head
    at = placed.accepted
    event = (await whole_log(store, driven.id))[at - 1]
    assert event.run_id == second.id
    await driven.start()
    assert (await store.placed_run(first.id)).accepted == 1


@pytest.mark.failure(21)
@pytest.mark.parametrize("seed", range(6))
async def test_a_reload_equals_live_in_any_life(store: Store, seed: int) -> None:
    driven = await DrivenSession.begin(store)
    await live_at_random(driven, random.Random(seed), steps=60)


async def live_at_random(driven: DrivenSession, dice: random.Random, *, steps: int) -> None:
    parts = 0
    for _ in range(steps):
        session = await driven.store.session(driven.id)
        if session.active_run is None:
            step = dice.choice(["accept", "start", "start", "undo", "again", "cancel"])
        else:
            step = dice.choice(["say", "say", "tool", "accept", "steer", "settle", "cancel"])
        match step:
            case "accept":
                await driven.accept("hi", when_busy=dice.choice([QUEUE, STEER]))
            case "start":
                await driven.start()
            case "undo" | "again" if session.queued or not await _users(driven):
                continue
            case "undo":
                await driven.undo()
            case "again":
                await driven.run_again(dice.choice(await _users(driven)), "again")
            case "cancel":
                await driven.cancel()
            case "say":
                parts += 1
                await driven.say("a", "é", "👋", part=f"prt_{parts}")
            case "tool":
                parts += 1
                await driven.call_tool(part=f"prt_{parts}")
            case "steer":
                await driven.steer()
            case "settle":
                await driven.settle()
        await reload_equals_live(driven)


async def _users(driven: DrivenSession) -> list[MessageId]:
    messages = (await driven.store.snapshot(driven.id)).messages
    return [message.id for message in messages if message.role == "user"]
