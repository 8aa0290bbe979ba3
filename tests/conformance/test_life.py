"""A snapshot is the fold of the log, at every step of a life."""

import random

import pytest
from msgspec.structs import replace

from tenuto.core.approval import ApprovalState, Decision
from tenuto.core.message import ReasoningPart, TextPart, ToolPart, ToolState
from tenuto.core.run import Ending, Reason, RunStatus
from tenuto.core.session import SessionState
from tenuto.core.value import MessageId, PartId, RunId, SessionId
from tenuto.ports.store import Store
from tests.conformance.life import QUEUE, STEER, Life, fork_of, new_session, whole_log

pytestmark = pytest.mark.anyio

STALLED = Ending(status=RunStatus.FAILED, reason=Reason.PROVIDER_STALLED)
CRASHED = Ending(status=RunStatus.INTERRUPTED, reason=Reason.SERVER_CRASHED)


async def reload_equals_live(life: Life) -> None:
    """What a reload shows is what someone who followed the log has."""
    folded = await life.transcript()
    snapshot = await life.store.snapshot(life.id)
    assert snapshot.messages == folded.messages()
    in_order = sorted(folded.runs.values(), key=lambda run: run.accept_number)
    assert snapshot.runs == tuple(in_order)[-100:]
    assert snapshot.session.head == len(await whole_log(life.store, life.id))
    assert snapshot.session == await life.store.session(life.id)
    unfinished = [message for message in folded.messages() if message.finish_reason is None]
    assert await life.store.open_message(life.id) == (unfinished[0] if unfinished else None)
    assert len(unfinished) <= 1


@pytest.mark.guarantee("H3")
async def test_a_reload_equals_what_was_seen_live_after_every_piece(store: Store) -> None:
    life = await Life.begin(store)
    await reload_equals_live(life)
    await life.accept("list the files")
    await reload_equals_live(life)
    await life.start()
    await reload_equals_live(life)
    await life.begin_part(ReasoningPart(id=PartId("prt_think")))
    for piece in ("hm", ", a", " shell"):
        await life.go_on_saying(piece, part="prt_think")
        await reload_equals_live(life)
    await life.call_tool()
    await reload_equals_live(life)
    await life.say("Here", " they", " are")
    await reload_equals_live(life)
    await life.settle()
    await reload_equals_live(life)
    answer = (await store.snapshot(life.id)).messages[-1]
    assert [part.id for part in answer.parts] == ["prt_think", "prt_tool", "prt_text"]
    assert answer.text() == "Here they are"
    assert answer.finish_reason == "end_turn"


async def test_a_reload_equals_live_through_steers_and_approvals(store: Store) -> None:
    life = await Life.begin(store)
    await life.accept("clean up")
    await life.start()
    tool = await life.call_tool()
    approval = await life.ask(tool)
    await reload_equals_live(life)
    waiting = await store.snapshot(life.id)
    assert waiting.session.state is SessionState.WAITING
    assert waiting.approvals == (approval,)
    await life.answer(approval, Decision.ALLOW_ONCE)
    await reload_equals_live(life)
    assert (await store.snapshot(life.id)).approvals == ()
    assert (await store.approval(approval.id)).state is ApprovalState.ALLOWED
    await life.update_part(replace(tool, state=ToolState.DONE, output="a b"))
    steered = await life.accept("only the old ones", when_busy=STEER)
    await life.steer()
    await reload_equals_live(life)
    await life.say("done")
    await life.settle()
    await reload_equals_live(life)
    roles = [message.role for message in (await store.snapshot(life.id)).messages]
    assert roles == ["user", "assistant", "user", "assistant"]
    assert (await store.run(steered.id)).steered_into == life.fence.run_id


@pytest.mark.failure(2, 3, 4)
async def test_a_cancelled_answer_keeps_every_part_that_streamed(store: Store) -> None:
    life = await Life.begin(store)
    await life.accept("go")
    await life.start()
    await life.begin_part(ReasoningPart(id=PartId("prt_think")))
    await life.go_on_saying("thinking", part="prt_think")
    await life.say("some text")
    approval = await life.ask(await life.call_tool())
    await life.cancel()
    await reload_equals_live(life)
    run = await life.settle()
    await reload_equals_live(life)
    assert (run.status, run.reason) == (RunStatus.CANCELLED, Reason.USER)
    thinking, text, tool = (await store.snapshot(life.id)).messages[-1].parts
    assert isinstance(thinking, ReasoningPart) and thinking.text == "thinking"
    assert isinstance(text, TextPart) and text.text == "some text"
    assert isinstance(tool, ToolPart) and tool.state is ToolState.CANCELLED
    assert (await store.approval(approval.id)).state is ApprovalState.CANCELLED


async def test_a_queued_prompt_under_a_cancel_keeps_its_text_and_one_empty_answer(
    store: Store,
) -> None:
    life = await Life.begin(store)
    await life.accept("never started")
    await life.cancel()
    await reload_equals_live(life)
    user, answer = (await store.snapshot(life.id)).messages
    assert user.text() == "never started"
    assert (answer.parts, answer.finish_reason) == ((), "cancelled")


@pytest.mark.guarantee("H9")
@pytest.mark.failure(42)
async def test_undo_and_retry_remove_and_run_in_one_step(store: Store) -> None:
    life = await Life.begin(store)
    await life.turn("one", "1")
    await life.turn("two", "2")
    removed = await life.undo()
    assert len(removed) == 2
    await reload_equals_live(life)
    texts = [message.text() for message in (await store.snapshot(life.id)).messages]
    assert texts == ["one", "1"]
    user = await store.user_message(life.id, None)
    await life.run_again(user.id, "one, but better")
    await reload_equals_live(life)
    assert (await store.snapshot(life.id)).messages == ()
    await life.start()
    await life.say("1!")
    await life.settle()
    await reload_equals_live(life)
    texts = [message.text() for message in (await store.snapshot(life.id)).messages]
    assert texts == ["one, but better", "1!"]


async def test_a_fork_has_a_log_of_its_own_from_the_beginning(store: Store) -> None:
    life = await Life.begin(store)
    await life.turn("one", "1")
    source = await store.snapshot(life.id)
    events, finished = fork_of(source.messages, SessionId("ses_fork"))
    made = await store.create_session(new_session("fork", title="copy"), events, finished)
    assert made.head == len(events)
    fork = Life(store, made.id)
    await reload_equals_live(fork)
    await fork.turn("two", "2")
    await reload_equals_live(fork)
    texts = [message.text() for message in (await store.snapshot(fork.id)).messages]
    assert texts == ["one", "1", "two", "2"]
    assert await store.snapshot(life.id) == source


@pytest.mark.failure(10)
async def test_a_compaction_changes_what_the_model_is_told_and_nothing_else(store: Store) -> None:
    life = await Life.begin(store)
    await life.turn("one", "1")
    await life.turn("two", "2")
    before = (await store.snapshot(life.id)).messages
    await life.compact(before[1].id, "they counted")
    await reload_equals_live(life)
    assert (await store.snapshot(life.id)).messages == before
    background = await store.background(life.id)
    assert background.summary == "they counted"
    assert background.messages == before[2:]
    await life.accept("three")
    await life.start()
    await life.say("thr", "ee")
    told = (await store.background(life.id)).messages
    assert [message.text() for message in told] == ["two", "2", "three", "three"]
    assert told[-1].finish_reason is None


async def test_a_summary_of_removed_messages_goes_with_them(store: Store) -> None:
    life = await Life.begin(store)
    await life.turn("one", "1")
    first = await store.user_message(life.id, None)
    await life.compact(first.id, "of the first")
    await life.turn("two", "2")
    last = (await store.snapshot(life.id)).messages[-1]
    await life.compact(last.id, "of both")
    await life.undo()
    background = await store.background(life.id)
    assert background.summary == "of the first"
    assert [message.text() for message in background.messages] == ["1"]


@pytest.mark.failure(7)
async def test_a_run_that_goes_on_has_the_kept_partial_before_it(store: Store) -> None:
    life = await Life.begin(store)
    await life.accept("count")
    await life.start()
    await life.say("1 2")
    run = await life.settle(CRASHED)
    await life.go_on(run.id)
    await life.start()
    await life.say("3 4", part="prt_more")
    await reload_equals_live(life)
    texts = [message.text() for message in (await store.background(life.id)).messages]
    assert texts == ["count", "1 2", "3 4"]


async def test_the_last_run_is_neither_withdrawn_nor_steered_nor_a_compaction(
    store: Store,
) -> None:
    life = await Life.begin(store)
    await life.accept("work")
    await life.start()
    steer = await life.accept("also", when_busy=STEER)
    back = await life.accept("never mind")
    await life.steer()
    await life.withdraw(back.id)
    ended = await life.settle(STALLED)
    await life.compact((await store.user_message(life.id, None)).id, "s")
    going_on = await life.go_on(ended.id)
    assert going_on.continues == ended.id
    assert ended.id not in (steer.id, back.id)


async def test_queued_runs_start_in_the_order_of_the_queue(store: Store) -> None:
    life = await Life.begin(store)
    runs = [await life.accept(f"prompt {n}") for n in range(3)]
    assert (await store.session(life.id)).queued == 3
    started: list[RunId] = []
    for _ in runs:
        fence = await life.start()
        assert fence is not None
        started.append(fence.run_id)
        await life.settle()
    assert started == [run.id for run in runs]


async def test_a_run_remembers_where_it_was_accepted(store: Store) -> None:
    life = await Life.begin(store)
    first = await life.accept("one")
    second = await life.accept("two")
    assert (await store.placed_run(first.id)).accepted == 1
    placed = await store.placed_run(second.id)
    assert placed.run == second
    assert placed.head == (await store.session(life.id)).head
    at = placed.accepted
    event = (await whole_log(store, life.id))[at - 1]
    assert event.run_id == second.id
    await life.start()
    assert (await store.placed_run(first.id)).accepted == 1


@pytest.mark.failure(21)
@pytest.mark.parametrize("seed", range(6))
async def test_a_reload_equals_live_in_any_life(store: Store, seed: int) -> None:
    life = await Life.begin(store)
    await live_at_random(life, random.Random(seed), steps=60)


async def live_at_random(life: Life, dice: random.Random, *, steps: int) -> None:
    parts = 0
    for _ in range(steps):
        session = await life.store.session(life.id)
        if session.active_run is None:
            step = dice.choice(["accept", "start", "start", "undo", "again", "cancel"])
        else:
            step = dice.choice(["say", "say", "tool", "accept", "steer", "settle", "cancel"])
        match step:
            case "accept":
                await life.accept("hi", when_busy=dice.choice([QUEUE, STEER]))
            case "start":
                await life.start()
            case "undo" | "again" if session.queued or not await _users(life):
                continue
            case "undo":
                await life.undo()
            case "again":
                await life.run_again(dice.choice(await _users(life)), "again")
            case "cancel":
                await life.cancel()
            case "say":
                parts += 1
                await life.say("a", "é", "👋", part=f"prt_{parts}")
            case "tool":
                parts += 1
                await life.call_tool(part=f"prt_{parts}")
            case "steer":
                await life.steer()
            case "settle":
                await life.settle()
        await reload_equals_live(life)


async def _users(life: Life) -> list[MessageId]:
    messages = (await life.store.snapshot(life.id)).messages
    return [message.id for message in messages if message.role == "user"]
