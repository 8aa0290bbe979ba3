"""Comparisons: several sessions made, judged and removed together, or not at all."""

from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from tenuto.core import comparison as judging
from tenuto.core.comparison import Comparison, Pane, Verdict, Winner
from tenuto.core.desk import Moment
from tenuto.core.error import (
    AlreadyAnswered,
    Conflict,
    IdempotencyMismatch,
    NotFound,
    SessionBusy,
)
from tenuto.core.event import SessionCreated, SessionUpdated
from tenuto.core.principal import OWNER
from tenuto.core.projection import Transcript
from tenuto.core.run import Ending, Mode, Reason, RunError, RunStatus, Usage
from tenuto.core.session import DEFAULT_WORKSPACE
from tenuto.core.value import ComparisonId, SessionId, StreamId, WorkspaceId
from tenuto.ports.query import ComparisonQuery, Once, RunQuery, SessionQuery
from tenuto.ports.store import Store
from tests.conformance.driven import NODE, DrivenSession, instant, make_workspace, whole_log
from tests.conformance.listener import Listener

pytestmark = pytest.mark.anyio

ONCE = Once(by=OWNER.id, key="POST /comparisons k1", digest="d1", at=instant(1))
SECRETS = ("secret/alpha", "secret/beta", "secret/gamma")
FAILED = Ending(
    status=RunStatus.FAILED,
    reason=Reason.PROVIDER_ERROR,
    error=RunError(code="provider_error", message="secret/alpha is busy"),
    usage=Usage(output_tokens=3, cost_usd=0.5),
)


def new_comparison(name: str = "one", *, panes: int = 3, at: int = 0, **fields: Any) -> Comparison:
    known = {"workspace_id": DEFAULT_WORKSPACE, "mode": Mode.CHAT, "blind": True}
    return Comparison(
        id=ComparisonId(f"cmp_{name}"),
        created_at=instant(at),
        panes=tuple(
            Pane(session_id=SessionId(f"ses_{name}{n}"), model=SECRETS[n]) for n in range(panes)
        ),
        **{**known, **fields},
    )


async def begin(
    store: Store, name: str = "one", **fields: Any
) -> tuple[Comparison, list[DrivenSession]]:
    made = await store.create_comparison(new_comparison(name, **fields))
    return made, [DrivenSession(store, pane.session_id) for pane in made.panes]


async def vote(
    store: Store, comparison_id: str, winner: Winner = 0, *, once: Once | None = None, at: int = 900
) -> Comparison:
    moment = Moment(now=instant(at), node=NODE)
    return await store.judge(
        ComparisonId(comparison_id),
        lambda comparison, desks: judging.vote(comparison, desks, winner, moment),
        once=once,
        answer=Comparison,
    )


async def keep(store: Store, comparison_id: str, index: int) -> Comparison:
    moment = Moment(now=instant(950), node=NODE)
    return await store.judge(
        ComparisonId(comparison_id),
        lambda comparison, desks: judging.keep(comparison, desks, index, moment),
    )


async def listed(store: Store, **query: Any) -> list[str]:
    return [session.id for session in (await store.sessions(SessionQuery(**query))).sessions]


async def folded(driven: DrivenSession) -> Transcript:
    return await driven.transcript()


async def test_a_comparison_comes_with_a_session_for_each_pane(store: Store) -> None:
    made, sessions = await begin(store)
    found = await store.comparison(made.id)
    assert found.comparison == made
    assert [session.id for session in found.sessions] == [driven.id for driven in sessions]
    for n, session in enumerate(found.sessions):
        assert session.model is None
        assert session.comparison is not None
        assert (session.comparison.index, session.comparison.label) == (n, "ABC"[n])


async def test_what_cannot_be_made_whole_is_not_made_at_all(store: Store) -> None:
    await begin(store, "one")
    clash = new_comparison("two")
    clash = replace(clash, panes=(*clash.panes[:2], new_comparison("one").panes[0]))
    with pytest.raises(Conflict):
        await store.create_comparison(clash)
    with pytest.raises(NotFound):
        await store.comparison(clash.id)
    with pytest.raises(NotFound):
        await store.session(clash.panes[0].session_id)
    with pytest.raises(NotFound):
        await store.create_comparison(new_comparison("three", workspace_id=WorkspaceId("wsp_no")))


async def test_the_same_request_makes_one_comparison(store: Store) -> None:
    first = await store.create_comparison(new_comparison("one"), once=ONCE)
    again = await store.create_comparison(new_comparison("two"), once=ONCE)
    assert again == first
    with pytest.raises(IdempotencyMismatch):
        await store.create_comparison(new_comparison("two"), once=replace(ONCE, digest="d2"))
    assert len((await store.comparisons(ComparisonQuery())).comparisons) == 1


async def test_panes_are_in_no_list_no_search_and_no_workspaces_log(
    store: Store, listener: Listener
) -> None:
    made, sessions = await begin(store)
    await sessions[0].turn("a zebra", "stripes")
    await vote(store, made.id)
    await sessions[0].update(title="zebra")
    assert await listed(store) == await listed(store, workspace_id=DEFAULT_WORKSPACE) == []
    assert await listed(store, words="zebra") == []
    assert await whole_log(store, "default") == []
    assert listener.of("default") == []


async def test_a_panes_runs_are_runs_like_any_other(store: Store) -> None:
    _, sessions = await begin(store)
    run = await sessions[0].turn("hello", "hi")
    assert await store.run(run.id) == run
    assert (await store.runs(RunQuery())).runs == (run,)
    assert [m.text() for m in (await store.snapshot(sessions[0].id)).messages] == ["hello", "hi"]
    await sessions[1].accept("hello")
    assert await store.waiting_sessions() == (sessions[1].id,)


@pytest.mark.failure(50)
async def test_no_row_and_no_event_of_a_blind_pane_names_a_model(
    store: Store, listener: Listener
) -> None:
    made, sessions = await begin(store)
    for driven in sessions:
        await driven.turn("hello", "hi")
        await driven.accept("and now")
        await driven.start()
        await driven.settle(FAILED)
        snapshot = await store.snapshot(driven.id)
        everything = (snapshot, await store.runs(RunQuery()), await whole_log(store, driven.id))
        assert "secret" not in repr(everything)
        assert (await store.session(driven.id)).usage.cost_usd is None
    assert "secret" not in repr(listener.heard)
    assert (await store.comparison(made.id)).comparison.hidden


async def test_a_vote_shows_every_model_and_live_is_reload(
    store: Store, listener: Listener
) -> None:
    made, sessions = await begin(store)
    for driven in sessions[:2]:
        await driven.turn("hello", "hi")
        await driven.accept("and now")
        await driven.start()
        await driven.settle(FAILED)
    under_way = await sessions[2].accept("hello")
    await sessions[2].start()
    await sessions[2].say("still ")
    listener.heard.clear()
    voted = await vote(store, made.id, 1)
    assert (await store.comparison(made.id)).comparison == voted
    for n, driven in enumerate(sessions):
        snapshot = await store.snapshot(driven.id)
        assert snapshot.session.model == SECRETS[n]
        assert {run.model for run in snapshot.runs} == {SECRETS[n]}
        assert (await folded(driven)).runs == {run.id: run for run in snapshot.runs}
        (told,) = listener.of(driven.id)
        assert told.seq == snapshot.session.head
        event = told.event()
        assert isinstance(event, SessionUpdated)
        assert event.changes.model == SECRETS[n]
    assert (await store.session(sessions[0].id)).usage.cost_usd == 0.5
    assert (
        await store.run((await store.snapshot(sessions[0].id)).runs[1].id)
    ).error == FAILED.error
    # What streams goes on, and ends in the open.
    await sessions[2].go_on_saying("talking", offset=6)
    ended = await sessions[2].settle(FAILED)
    assert (ended.id, ended.model, ended.error) == (under_way.id, SECRETS[2], FAILED.error)
    assert (await folded(sessions[2])).runs[ended.id] == ended


@pytest.mark.failure(38)
async def test_of_twenty_votes_at_once_one_is_taken(store: Store) -> None:
    made, sessions = await begin(store)
    taken: list[Winner] = []

    async def cast(n: int) -> None:
        winner: Winner = "tie" if n % 4 == 3 else n % 4
        try:
            await vote(store, made.id, winner)
            taken.append(winner)
        except AlreadyAnswered:
            pass

    async with anyio.create_task_group() as group:
        for n in range(20):
            group.start_soon(cast, n)
    found = (await store.comparison(made.id)).comparison
    assert found.vote is not None
    assert taken == [found.vote.winner]
    for driven in sessions:
        assert (await store.session(driven.id)).head == 1


async def test_a_vote_that_is_sent_again_gets_its_first_answer(store: Store) -> None:
    made, _ = await begin(store)
    first = await vote(store, made.id, 2, once=ONCE)
    assert await vote(store, made.id, 2, once=ONCE, at=999) == first
    with pytest.raises(AlreadyAnswered):
        await vote(store, made.id, 2)


async def test_a_verdict_that_raises_stores_nothing(store: Store) -> None:
    made, sessions = await begin(store)
    with pytest.raises(NotFound):
        await store.judge(made.id, _refuse)
    assert (await store.comparison(made.id)).comparison == made
    assert (await store.session(sessions[0].id)).head == 0
    with pytest.raises(NotFound):
        await vote(store, "cmp_no")


def _refuse(comparison: Comparison, desks: object) -> Verdict[Comparison]:
    raise NotFound("not today")


async def test_a_kept_pane_is_a_session_from_then_on(store: Store, listener: Listener) -> None:
    made, sessions = await begin(store)
    await sessions[1].turn("a zebra", "stripes")
    await vote(store, made.id)
    await keep(store, made.id, 1)
    assert await listed(store) == await listed(store, words="zebra") == [sessions[1].id]
    assert await listed(store, workspace_id=DEFAULT_WORKSPACE) == [sessions[1].id]
    (created,) = await whole_log(store, "default")
    assert isinstance(created, SessionCreated)
    assert created.session == await store.session(sessions[1].id)
    await sessions[1].turn("and lions", "roar")
    kinds = [stored.type for stored in listener.of("default")]
    assert kinds == ["session.created", "run.accepted", "run.started", "run.finished"]


async def test_keeping_twice_changes_nothing(store: Store) -> None:
    made, sessions = await begin(store, blind=False)
    await keep(store, made.id, 0)
    head = (await store.session(sessions[0].id)).head
    await keep(store, made.id, 0)
    assert (await store.session(sessions[0].id)).head == head
    assert len(await whole_log(store, "default")) == 1


async def test_a_comparison_is_forgotten_only_without_its_panes(store: Store) -> None:
    made, sessions = await begin(store, blind=False)
    await keep(store, made.id, 0)
    await sessions[1].delete()
    with pytest.raises(SessionBusy):
        await store.forget_comparison(made.id)
    await sessions[2].delete()
    await store.forget_comparison(made.id)
    with pytest.raises(NotFound):
        await store.comparison(made.id)
    with pytest.raises(NotFound):
        await store.forget_comparison(made.id)
    assert await listed(store) == [sessions[0].id]
    assert await store.voted() == ()


async def test_a_forgotten_comparison_takes_its_answers_along(store: Store) -> None:
    made = await store.create_comparison(new_comparison(panes=2), once=ONCE)
    for pane in made.panes:
        await DrivenSession(store, pane.session_id).delete()
    await store.forget_comparison(made.id)
    assert await store.answered(ONCE, Comparison) is None


async def test_a_deleted_panes_log_tells_only_its_own_watchers(
    store: Store, listener: Listener
) -> None:
    made, sessions = await begin(store)
    await sessions[0].turn("hello", "hi")
    await sessions[0].delete()
    assert listener.of(sessions[0].id)[-1].type == "session.deleted"
    assert await whole_log(store, "default") == []
    found = await store.comparison(made.id)
    assert [session.id for session in found.sessions] == [sessions[1].id, sessions[2].id]
    voted = await vote(store, made.id, 2)
    assert voted.vote is not None and voted.vote.among == (1, 2)


async def test_comparisons_are_listed_newest_first_page_by_page(store: Store) -> None:
    await make_workspace(store, "wsp_b")
    for n in range(5):
        where = WorkspaceId("wsp_b") if n == 2 else DEFAULT_WORKSPACE
        await begin(store, f"n{n}", at=n, workspace_id=where)
    first = await store.comparisons(ComparisonQuery(limit=3))
    assert [one.comparison.id for one in first.comparisons] == ["cmp_n4", "cmp_n3", "cmp_n2"]
    rest = await store.comparisons(ComparisonQuery(limit=3, cursor=first.next))
    assert [one.comparison.id for one in rest.comparisons] == ["cmp_n1", "cmp_n0"]
    assert rest.next is None
    assert len(rest.comparisons[0].sessions) == 3
    there = await store.comparisons(ComparisonQuery(workspace_id=WorkspaceId("wsp_b")))
    assert [one.comparison.id for one in there.comparisons] == ["cmp_n2"]


async def test_the_voted_ones_come_in_the_order_of_their_votes(store: Store) -> None:
    for n in range(3):
        await begin(store, f"n{n}", at=n)
    await vote(store, "cmp_n2", at=901)
    await vote(store, "cmp_n0", "none", at=902)
    assert [comparison.id for comparison in await store.voted()] == ["cmp_n2", "cmp_n0"]


async def test_a_workspace_with_a_comparison_is_not_empty(store: Store) -> None:
    await make_workspace(store, "wsp_b")
    made, sessions = await begin(store, workspace_id=WorkspaceId("wsp_b"))
    with pytest.raises(SessionBusy):
        await store.delete_workspace(WorkspaceId("wsp_b"))
    for driven in sessions:
        await driven.delete()
    with pytest.raises(SessionBusy):
        await store.delete_workspace(WorkspaceId("wsp_b"))
    await store.forget_comparison(made.id)
    await store.delete_workspace(WorkspaceId("wsp_b"))
    with pytest.raises(NotFound):
        await store.read(StreamId("wsp_b"), after=0, limit=1)
