"""Leases, orphans, folding."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tenuto.core import cancelling
from tenuto.core.desk import Decide
from tenuto.core.message import TextPart, ToolState
from tenuto.core.run import Reason, RunStatus
from tenuto.core.session import DEFAULT_WORKSPACE
from tenuto.core.value import NodeId, PartId, StreamId
from tenuto.ports.query import Orphan, RunQuery, SessionQuery
from tenuto.ports.store import Store
from tests.conformance.driven import NODE, DrivenSession, card, instant, whole_log

pytestmark = pytest.mark.anyio

LATER = instant(59_000)
SUCCESSOR = NodeId("node_next")


@pytest.mark.guarantee("H17")
async def test_a_run_whose_owner_is_gone_is_an_orphan(store: Store) -> None:
    running, idle = (
        await DrivenSession.begin(store, "running"),
        await DrivenSession.begin(store, "idle"),
    )
    await running.accept("hello")
    await running.start()
    await idle.turn("hello", "done")
    orphan = Orphan(session_id=running.id, run_id=running.fence.run_id, owner=NODE)
    assert list(await store.orphans(SUCCESSOR)) == [orphan]
    assert list(await store.orphans(NODE)) == []
    await running.settle()
    assert list(await store.orphans(SUCCESSOR)) == []


async def test_a_node_knows_which_runs_are_its_own(store: Store) -> None:
    mine, other = (
        await DrivenSession.begin(store, "mine"),
        await DrivenSession.begin(store, "other"),
    )
    other.node = SUCCESSOR
    for driven in (mine, other):
        await driven.accept("hello")
        await driven.start()
    orphan = Orphan(session_id=mine.id, run_id=mine.fence.run_id, owner=NODE)
    assert list(await store.owned(NODE)) == [orphan]
    await mine.settle()
    assert list(await store.owned(NODE)) == []


async def test_a_heartbeat_makes_no_event_and_no_news(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.turn("hello", "x")
    before = await store.snapshot(driven.id)
    await store.heartbeat(card(NODE), seconds=30.0)
    await store.check()
    assert await store.snapshot(driven.id) == before


async def test_sessions_that_wait_for_a_start_are_known(store: Store) -> None:
    waiting = await DrivenSession.begin(store, "waiting")
    busy = await DrivenSession.begin(store, "busy")
    await DrivenSession.begin(store, "idle")
    await waiting.accept("one")
    await waiting.accept("two")
    await busy.accept("one")
    await busy.start()
    await busy.accept("two")
    assert list(await store.waiting_sessions()) == [waiting.id]
    await busy.settle()
    assert set(await store.waiting_sessions()) == {waiting.id, busy.id}


@pytest.mark.guarantee("E4")
async def test_what_is_held_does_not_wait_for_a_start_and_is_queued_all_the_same(
    store: Store,
) -> None:
    driven = await DrivenSession.begin(store)
    await driven.accept("one")
    run = await driven.accept("two")
    await driven.start()

    async def change(decide: Decide[Any]) -> None:
        await store.commit(driven.id, decide)

    await change(lambda desk: cancelling.hold_session(desk, Reason.USER, driven.asked()))
    await driven.settle()
    assert list(await store.waiting_sessions()) == []
    assert await driven.start() is None
    for query in (
        RunQuery(status=RunStatus.QUEUED, limit=9),
        RunQuery(session_id=driven.id, status=RunStatus.QUEUED, limit=9),
    ):
        (found,) = (await store.runs(query)).runs
        assert (found.id, found.held) == (run.id, True)
    overview = await store.workspace_snapshot(DEFAULT_WORKSPACE, most_sessions=9, most_runs=9)
    assert [one.id for one in overview.runs] == [run.id]
    await change(lambda desk: cancelling.release(desk, driven.asked()))
    assert list(await store.waiting_sessions()) == [driven.id]
    assert (await driven.start()) is not None


async def test_folding_keeps_what_the_log_means(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.accept("hello")
    await driven.start()
    await driven.say("a", "bc", "👋", part="prt_a")
    tool = await driven.call_tool(part="prt_tool")
    await driven.go_on_saying("d", part="prt_a", offset=4)
    await driven.update_part(replace(tool, state=ToolState.DONE, output="x"))
    await driven.settle()
    before = await store.snapshot(driven.id)
    events = len(await whole_log(store, driven.id))

    assert await store.fold_deltas(before=LATER, limit=1000) == 4
    log = await whole_log(store, driven.id)
    assert len(log) == events - 4
    assert (await driven.transcript()).messages() == before.messages
    assert await store.snapshot(driven.id) == before
    page = await store.read(StreamId(driven.id), after=0, limit=1000)
    assert page.head == before.session.head
    deltas = [stored for stored in page.events if stored.type == "part.delta"]
    assert [stored.event().text for stored in deltas] == ['{"command":"ls"}', "abc👋d"]  # type: ignore[union-attr]
    assert [stored.event().offset for stored in deltas] == [0, 0]  # type: ignore[union-attr]
    assert page.folded == deltas[-1].seq
    assert await store.fold_deltas(before=LATER, limit=1000) == 0


async def test_an_update_between_deltas_still_folds_right(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.accept("hello")
    await driven.start()
    await driven.say("wro", "ng", part="prt_a")
    await driven.update_part(TextPart(id=PartId("prt_a"), text="right"))
    await driven.go_on_saying(" and", " more", part="prt_a", offset=5)
    await driven.settle()
    assert (await store.snapshot(driven.id)).messages[-1].text() == "right and more"
    assert await store.fold_deltas(before=LATER, limit=1000) == 2
    assert (await driven.transcript()).messages()[-1].text() == "right and more"


async def test_only_what_was_finished_before_then_is_folded(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.turn("one", "a", "b", "c")
    then = driven.moment().now
    await driven.turn("two", "d", "e", "f")
    await driven.accept("three")
    await driven.start()
    await driven.say("g", "h", "i", part="prt_open")
    log = await whole_log(store, driven.id)
    assert await store.fold_deltas(before=instant(0), limit=1000) == 0
    assert await whole_log(store, driven.id) == log
    assert await store.fold_deltas(before=then, limit=1000) == 2
    assert await store.fold_deltas(before=LATER, limit=1000) == 2
    assert (await store.snapshot(driven.id)).messages == (await driven.transcript()).messages()
    assert (await store.snapshot(driven.id)).messages[-1].text() == "ghi"


async def test_folding_stops_near_its_limit_and_goes_on_later(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    for n in range(3):
        await driven.turn(f"{n}", "a", "b", "c")
    gone = [await store.fold_deltas(before=LATER, limit=1) for _ in range(4)]
    assert gone == [2, 2, 2, 0]


async def test_an_undone_answers_deltas_are_folded_too(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.turn("one", "a", "b", "c")
    await driven.undo()
    assert await store.fold_deltas(before=LATER, limit=1000) == 2
    assert (await driven.transcript()).messages() == ()


async def test_a_deleted_session_is_not_folded(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.turn("one", "a", "b", "c")
    await driven.delete()
    log = await whole_log(store, driven.id)
    assert await store.fold_deltas(before=LATER, limit=1000) == 0
    assert await whole_log(store, driven.id) == log


PIECES = st.lists(
    st.tuples(
        st.sampled_from(["prt_a", "prt_b"]),
        st.sampled_from(["grow", "grow", "grow", "update"]),
        st.text(alphabet="aé👋 \n", min_size=1, max_size=4),
    ),
    max_size=12,
)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(pieces=PIECES)
async def test_folding_never_changes_the_fold(
    store: Store, pieces: list[tuple[str, str, str]]
) -> None:
    runs = (await store.sessions(SessionQuery(limit=1000))).sessions
    driven = await DrivenSession.begin(store, f"h{len(runs)}")
    await driven.accept("hello")
    await driven.start()
    for part in ("prt_a", "prt_b"):
        await driven.begin_part(TextPart(id=PartId(part)))
    for part, step, text in pieces:
        if step == "grow":
            await driven.go_on_saying(text, part=part)
        else:
            await driven.update_part(TextPart(id=PartId(part), text=text))
    await driven.settle()
    before = (await driven.transcript()).messages()
    assert (await store.snapshot(driven.id)).messages == before
    await store.fold_deltas(before=LATER, limit=1000)
    assert (await driven.transcript()).messages() == before
