"""Several nodes on one store: what is asked on one is done on the other, and the dead are buried."""

import asyncio
from itertools import count

import anyio
import pytest
from msgspec.structs import replace

from tenuto.core.approval import Approval, ApprovalState, Decision, Word
from tenuto.core.event import RunFinished
from tenuto.core.message import TextPart, ToolPart, ToolState
from tenuto.core.principal import OWNER
from tenuto.core.rule import Subject
from tenuto.core.run import Ending, Mode, OnDisconnect, Usage, WhenBusy
from tenuto.core.value import CallId, NodeId, PartId, RunId, StreamId
from tenuto.engine.checking import Draft
from tenuto.engine.turns import first_of
from tenuto.engine.work import Work
from tests.conformance.driven import END_TURN, DrivenSession, card, whole_log
from tests.engine.harness import EngineHarness, HeldWorker
from tests.engine.together import LEFT, LIMIT_SECONDS, RIGHT, Together, together, until

pytestmark = pytest.mark.anyio

DRAFT = Draft(input="hello", model="none", mode=Mode.CHAT)


async def look_for_what_waits(harness: EngineHarness) -> None:
    """It has had every chance to begin what waits."""
    for _ in range(3):
        await harness.rescuer._begin_waiting(here=(harness.node.id,))
        harness.clock.ahead += 1.5


@pytest.mark.guarantee("E9")
async def test_a_run_on_one_node_is_watched_from_another() -> None:
    async with together() as nodes:
        driven = await nodes.session()
        tailer = nodes.right.engine.tailer
        seen: list[int] = []

        async def watch() -> None:
            follow = tailer.follow(
                StreamId(driven.id),
                after=0,
                snapshot=None,
                last=lambda frame: frame.type == "run.finished",
            )
            async for batch in follow:
                seen.extend(int(word) for frame in batch.frames for word in frame.split())

        watching = asyncio.create_task(watch())
        await nodes.runs_on_the_left(driven)
        nodes.left.worker.may_end.set()
        async with asyncio.timeout(LIMIT_SECONDS):
            await watching
        log = await whole_log(nodes.right.store, driven.id)
        assert seen == list(range(1, len(log) + 1))


@pytest.mark.guarantee("E9")
async def test_a_cancel_on_one_node_answers_when_the_other_has_ended_the_run() -> None:
    async with together() as nodes:
        driven = await nodes.session()
        run_id = await nodes.runs_on_the_left(driven)
        with anyio.fail_after(LIMIT_SECONDS):
            receipt = await nodes.right.stops.cancel_session(driven.id, by=OWNER)
        assert (receipt.cancelled, receipt.settled) == ((run_id,), True)
        assert nodes.left.worker.stopped.is_set()
        assert (await nodes.right.store.run(run_id)).status == "cancelled"


class Asking(HeldWorker):
    """Asks a person about a call, and takes what they add, before it ends."""

    def __init__(self) -> None:
        super().__init__()
        self.answer: Approval | None = None
        self.steered = 0

    async def work(self, work: Work) -> Ending:
        part = ToolPart(
            id=PartId("prt_call"),
            call_id=CallId("call_1"),
            name="shell",
            input={},
            state=ToolState.RUNNING,
        )
        work.recorder.start(part)
        self.began.set()
        self.answer = await work.requests.permission(part, Subject(tool=part.name), ())
        work.recorder.update(replace(part, state=ToolState.RUNNING))
        text = TextPart(id=PartId("prt_text"))
        work.recorder.start(text)
        await self.may_end.wait()
        self.steered = len(await work.take_steers())
        return END_TURN


@pytest.mark.guarantee("E9")
async def test_a_run_on_one_node_is_answered_and_steered_from_another() -> None:
    async with together() as nodes:
        worker = nodes.left.worker = Asking()
        nodes.left.driver._worker = worker
        driven = await nodes.session()
        run_id = await nodes.runs_on_the_left(driven)
        store = nodes.right.store

        async def is_asked() -> bool:
            return bool(await store.things(driven.id, Approval))

        await until(is_asked)
        (approval,) = await store.things(driven.id, Approval)
        answers = nodes.right.engine.answers
        await answers.answer(approval.id, Word(decision=Decision.ALLOW_ONCE), by=OWNER)
        more = replace(DRAFT, when_busy=WhenBusy.STEER)
        await nodes.right.inbox.accept(driven.id, more, by=OWNER)
        worker.may_end.set()
        with anyio.fail_after(LIMIT_SECONDS):
            ended = await nodes.right.endings.of(run_id, seconds=None)
        assert ended.status == "completed"
        assert worker.answer is not None
        assert worker.answer.state is ApprovalState.ALLOWED
        assert worker.steered == 1


class Counting(HeldWorker):
    """Uses something before it is stopped."""

    async def work(self, work: Work) -> Ending:
        work.meter.request(28)
        work.meter.report(Usage(input_tokens=7, output_tokens=3))
        return await super().work(work)


@pytest.mark.guarantee("E9")
async def test_a_delete_on_one_node_lets_the_other_end_its_run_with_what_it_used() -> None:
    async with together() as nodes:
        nodes.left.worker = Counting()
        nodes.left.driver._worker = nodes.left.worker
        driven = await nodes.session()
        await nodes.runs_on_the_left(driven)
        with anyio.fail_after(LIMIT_SECONDS):
            await nodes.right.engine.sessions.delete(driven.id, by=OWNER)
        assert nodes.left.worker.stopped.is_set()
        log = await whole_log(nodes.right.store, driven.id)
        (run,) = [event.run for event in log if isinstance(event, RunFinished)]
        assert (run.status, run.reason) == ("cancelled", "deleted")
        assert (run.usage.input_tokens, run.usage.output_tokens) == (7, 3)


async def test_a_prompt_starts_on_the_node_that_accepted_it() -> None:
    async with together() as nodes:
        driven = await nodes.session()
        await nodes.right.inbox.accept(driven.id, DRAFT, by=OWNER)
        with anyio.fail_after(LIMIT_SECONDS):
            await nodes.right.worker.began.wait()
        await look_for_what_waits(nodes.left)
        assert (await nodes.left.store.control(driven.id)).owner == RIGHT
        assert not nodes.left.worker.began.is_set()


async def test_a_ring_of_another_node_begins_nothing() -> None:
    async with together() as nodes:
        driven = await nodes.session()
        # Nobody on the right hears of its own prompt; the left is rung.
        nodes.right.switchboard.on_changed.clear()
        await driven.accept("one")
        await anyio.wait_all_tasks_blocked()
        assert (await nodes.left.store.session(driven.id)).queued == 1
        assert not nodes.left.coordinator.works_on(driven.id)


async def test_what_was_just_accepted_is_left_to_the_node_that_accepted_it() -> None:
    async with together() as nodes:
        await nodes.right.session()
        name = next(n for n in map(str, count()) if first_of(f"ses_{n}", {LEFT, RIGHT}) == LEFT)
        waits = await DrivenSession.begin(nodes.right.store, name)
        nodes.right.switchboard.on_changed.clear()
        await waits.accept("one")
        await nodes.left.rescuer._begin_waiting(here=(LEFT,))
        assert not nodes.left.coordinator.works_on(waits.id)
        nodes.left.clock.ahead += 1.5
        await nodes.left.rescuer._begin_waiting(here=(LEFT,))
        assert nodes.left.coordinator.works_on(waits.id)


@pytest.mark.parametrize("why", ["full", "draining"])
async def test_what_one_node_has_no_room_for_begins_on_the_other(why: str) -> None:
    async with together(right_runs=1) as nodes:
        busy = await nodes.session()
        if why == "full":
            await nodes.right.inbox.accept(busy.id, DRAFT, by=OWNER)
            with anyio.fail_after(LIMIT_SECONDS):
                await nodes.right.worker.began.wait()
        else:
            await nodes.right.coordinator.drain(0)
        waits = await DrivenSession.begin(nodes.right.store, "waits")
        run = await waits.accept("one")
        await look_for_what_waits(nodes.left)
        with anyio.fail_after(LIMIT_SECONDS):
            await nodes.left.worker.began.wait()
        assert (await nodes.right.store.run(run.id)).status == "running"
        assert (await nodes.right.store.control(waits.id)).owner == LEFT


async def test_who_drains_hands_over_at_once() -> None:
    async with together() as nodes:
        third = NodeId("node_third")
        await nodes.right.store.heartbeat(card(third), seconds=1e6)
        await nodes.right.session()
        name = next(n for n in map(str, count()) if first_of(f"ses_{n}", {LEFT, third}) == LEFT)
        waits = await DrivenSession.begin(nodes.right.store, name)
        await nodes.right.engine.drain(0)
        run = await waits.accept("one")
        await nodes.left.heart.beat()
        await nodes.left.rescuer._begin_waiting(here=(LEFT,))
        with anyio.fail_after(LIMIT_SECONDS):
            await nodes.left.worker.began.wait()
        assert (await nodes.left.store.run(run.id)).status == "running"


async def test_who_found_no_room_begins_when_there_is_some() -> None:
    async with together(right_runs=1) as nodes:
        first = await nodes.session()
        second = await DrivenSession.begin(nodes.right.store, "second")
        for driven in (first, second):
            run = await nodes.right.inbox.accept(driven.id, DRAFT, by=OWNER)
        with anyio.fail_after(LIMIT_SECONDS):
            await nodes.right.worker.began.wait()
        assert (await nodes.right.store.session(second.id)).queued == 1
        nodes.right.worker.may_end.set()
        with anyio.fail_after(LIMIT_SECONDS):
            ended = await nodes.right.endings.of(run.id, seconds=None)
        assert ended.status == "completed"


async def rescued(harness: EngineHarness, run_id: RunId) -> bool:
    """Whether it has ended, after another round: it may still have been written."""
    await harness.rescuer.round()
    return (await harness.store.run(run_id)).ended


async def left_dies(nodes: Together) -> None:
    """Its lease runs out, and it does not know yet."""
    nodes.clock.at += 60.0
    await nodes.right.heart.beat()


@pytest.mark.guarantee("E10")
async def test_the_run_of_a_dead_node_is_settled_and_nothing_is_written_for_it_any_more() -> None:
    async with together() as nodes:
        driven = await nodes.session()
        run_id = await nodes.runs_on_the_left(driven)
        await left_dies(nodes)
        await until(lambda: rescued(nodes.right, run_id))
        ended = await nodes.right.store.run(run_id)
        assert (ended.status, ended.reason) == ("interrupted", "server_crashed")
        log = await whole_log(nodes.right.store, driven.id)
        # It wakes and goes on, as if nothing had been.
        nodes.left.worker.may_end.set()
        with anyio.fail_after(LIMIT_SECONDS):
            await nodes.left.coordinator.until_gone(driven.id)
        assert await whole_log(nodes.right.store, driven.id) == log
        # And then it goes on with new work.
        await nodes.left.heart.beat()
        again = await nodes.left.inbox.accept(driven.id, DRAFT, by=OWNER)
        with anyio.fail_after(LIMIT_SECONDS):
            assert (await nodes.right.endings.of(again.id, seconds=None)).status == "completed"


@pytest.mark.guarantee("E10")
async def test_a_node_that_came_back_in_time_keeps_its_run() -> None:
    async with together() as nodes:
        driven = await nodes.session()
        run_id = await nodes.runs_on_the_left(driven)
        await left_dies(nodes)
        (orphan,) = await nodes.right.store.orphans(RIGHT)
        # Its beat comes between the look and the write.
        await nodes.left.heart.beat()
        await nodes.right.rescuer._try_to_rescue(orphan)
        assert (await nodes.right.store.run(run_id)).status == "running"


async def test_orphans_are_settled_by_one_node_and_by_the_others_if_it_does_not() -> None:
    async with together() as nodes:
        driven = await nodes.session()
        gone = DrivenSession(nodes.left.store, driven.id, node=NodeId("node_gone"))
        nodes.left.switchboard.on_changed.clear()
        run = await gone.accept("one")
        await gone.start()
        first = first_of(run.id, {LEFT, RIGHT})
        turns = {LEFT: nodes.left, RIGHT: nodes.right}
        (second,) = {LEFT, RIGHT} - {first}
        await turns[second].rescuer.round()
        assert (await nodes.left.store.run(run.id)).status == "running"
        turns[second].clock.ahead += 1.5
        await turns[second].rescuer.round()
        assert (await nodes.left.store.run(run.id)).status == "interrupted"


@pytest.mark.guarantee("E10")
async def test_a_run_ends_with_the_node_that_held_its_connection() -> None:
    async with together(right_runs=1) as nodes:
        busy = await nodes.session()
        await nodes.right.inbox.accept(busy.id, DRAFT, by=OWNER)
        waits = await DrivenSession.begin(nodes.right.store, "waits")
        waits.node = RIGHT
        run = await waits.accept("one", on_disconnect=OnDisconnect.CANCEL)
        await look_for_what_waits(nodes.left)
        with anyio.fail_after(LIMIT_SECONDS):
            await nodes.left.worker.began.wait()
        await nodes.left.rescuer.round()
        await anyio.wait_all_tasks_blocked()
        assert (await nodes.left.store.run(run.id)).status == "running"
        await nodes.right.store.farewell(RIGHT)
        await nodes.left.heart.beat()
        await nodes.left.rescuer.round()
        with anyio.fail_after(LIMIT_SECONDS):
            ended = await nodes.left.endings.of(run.id, seconds=None)
        assert (ended.status, ended.reason) == ("cancelled", "disconnect")


async def test_one_node_tidies() -> None:
    async with together() as nodes:
        assert await nodes.left.engine.janitor._leads()
        assert not await nodes.right.engine.janitor._leads()
        nodes.clock.at += 600.0
        assert await nodes.right.engine.janitor._leads()


async def test_a_node_that_comes_leaves_what_others_may_still_read() -> None:
    async with together() as nodes:
        driven = await nodes.session()
        await nodes.right.engine.sessions.delete(driven.id, by=OWNER)
        nodes.left.clock.ahead += 1.0
        await nodes.left.engine.janitor.begin()
        assert await whole_log(nodes.right.store, driven.id)


async def test_who_stops_is_gone_at_once() -> None:
    async with together() as nodes:
        assert LEFT in await nodes.right.store.living()
        await nodes.left.engine.stop()
        assert LEFT not in await nodes.right.store.living()
