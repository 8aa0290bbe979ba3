"""Usage of every store: by day and model, whatever becomes of the sessions."""

import pytest

from tenuto.core import comparison as comparing
from tenuto.core import editing
from tenuto.core.comparison import Comparison, Pane
from tenuto.core.day_usage import DayUsage, UsageKind, booking
from tenuto.core.desk import Moment
from tenuto.core.principal import OWNER
from tenuto.core.run import Ending, Mode, Reason, RunStatus, Usage
from tenuto.core.session import DEFAULT_WORKSPACE
from tenuto.core.value import ComparisonId, SessionId, WorkspaceId
from tenuto.ports.store import Store
from tests.conformance.driven import NODE, START, DrivenSession, instant, make_workspace

pytestmark = pytest.mark.anyio

DAY = "2030-01-01"
OTHER = WorkspaceId("other")


def ending(tokens: int, cost: float | None = None, *, exact: bool = True) -> Ending:
    usage = Usage(
        input_tokens=tokens,
        output_tokens=2 * tokens,
        reasoning_tokens=tokens // 2,
        exact=exact,
        cost_usd=cost,
    )
    return Ending(status=RunStatus.COMPLETED, reason=Reason.END_TURN, usage=usage)


async def run(driven: DrivenSession, end: Ending) -> None:
    await driven.accept("hello")
    await driven.start()
    await driven.settle(end)


def used(runs: int, tokens: int, cost: float | None, *, exact: bool = True) -> DayUsage:
    return DayUsage(
        day=DAY,
        model="m/x",
        runs=runs,
        input_tokens=tokens,
        output_tokens=2 * tokens,
        reasoning_tokens=tokens // 2,
        exact=exact,
        cost_usd=cost,
    )


async def test_nothing_was_spent_at_first(store: Store) -> None:
    await DrivenSession.begin(store)
    assert list(await store.usage(since=DAY)) == []


async def test_runs_of_one_day_and_model_add_up(store: Store) -> None:
    one, two = await DrivenSession.begin(store, "one"), await DrivenSession.begin(store, "two")
    await run(one, ending(10, 0.1))
    await run(two, ending(20, 0.2))
    assert list(await store.usage(since=DAY)) == [used(2, 30, 0.3)]
    await run(one, ending(2, None, exact=False))
    assert list(await store.usage(since=DAY)) == [used(3, 32, 0.3, exact=False)]
    assert list(await store.usage(since="2030-01-02")) == []


async def test_what_is_under_way_or_never_began_is_not_on_it(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.accept("runs")
    await driven.start()
    waiting = await driven.accept("waits")
    await driven.withdraw(waiting.id)
    await driven.accept("waits too")
    assert list(await store.usage(since=DAY)) == []
    await driven.cancel()
    await driven.settle(ending(4))
    assert list(await store.usage(since=DAY)) == [used(1, 4, None)]


async def test_it_stays_when_the_session_goes(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await run(driven, ending(10, 0.5))
    await driven.accept("hello")
    await driven.start()
    await driven.delete()
    assert list(await store.usage(since=DAY)) == [used(2, 10, 0.5)]
    await store.purge(before=instant(59_000))
    assert list(await store.usage(since=DAY)) == [used(2, 10, 0.5)]


async def test_each_workspace_has_its_own_and_all_are_added(store: Store) -> None:
    await make_workspace(store, OTHER)
    here, there = (
        await DrivenSession.begin(store, "a"),
        await DrivenSession.begin(store, "b", workspace_id=OTHER),
    )
    await run(here, ending(10))
    await run(there, ending(20, 0.25))
    default = await store.usage(since=DAY, workspace_id=DEFAULT_WORKSPACE)
    assert list(default) == [used(1, 10, None)]
    assert list(await store.usage(since=DAY, workspace_id=OTHER)) == [used(1, 20, 0.25)]
    assert list(await store.usage(since=DAY)) == [used(2, 30, 0.25)]
    await there.delete()
    await store.delete_workspace(OTHER)
    assert list(await store.usage(since=DAY)) == [used(2, 30, 0.25)]


async def test_a_vote_moves_what_was_hidden_to_its_models(store: Store) -> None:
    panes = [Pane(session_id=SessionId(f"ses_{name}"), model=f"m/{name}") for name in "ab"]
    made = Comparison(
        id=ComparisonId("cmp_one"),
        workspace_id=DEFAULT_WORKSPACE,
        mode=Mode.CHAT,
        blind=True,
        created_at=START,
        panes=tuple(panes),
    )
    await store.create_comparison(made)
    for pane in panes:
        driven = DrivenSession(store, pane.session_id)
        await run(driven, ending(10, 0.5))
    (hidden,) = await store.usage(since=DAY)
    assert (hidden.model, hidden.runs, hidden.input_tokens) == (None, 2, 20)
    assert hidden.cost_usd is None
    moment = Moment(now=instant(50_000), node=NODE)
    await store.judge(made.id, lambda one, desks: comparing.vote(one, desks, 0, moment))
    shown = await store.usage(since=DAY)
    assert [(one.model, one.runs, one.input_tokens, one.cost_usd) for one in shown] == [
        ("m/a", 1, 10, 0.5),
        ("m/b", 1, 10, 0.5),
    ]


async def test_what_it_was_for_is_told_apart(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await run(driven, ending(10, 0.1))
    (said, _) = (await store.snapshot(driven.id)).messages
    await driven.compact(said.id, "In short.")
    title = booking(
        Usage(input_tokens=7, cache_read_tokens=5, cache_write_tokens=1, cost_usd=0.5),
        kind=UsageKind.TITLE,
        model="m/small",
        at=START,
        by=OWNER.id,
    )
    moment = driven.moment()
    for name in ("Greetings", None):
        await store.commit(
            driven.id,
            lambda desk: editing.name(desk, name, moment, booked=(title,)),  # noqa: B023
        )
    assert (await store.session(driven.id)).title == "Greetings"
    rows = {(u.model, u.kind): u for u in await store.usage(since=DAY)}
    assert rows.keys() == {
        ("m/x", UsageKind.RUN),
        ("m/x", UsageKind.SUMMARY),
        ("m/small", UsageKind.TITLE),
    }
    titles = rows["m/small", UsageKind.TITLE]
    # A title that was not given was paid for, too.
    assert (titles.runs, titles.input_tokens, titles.cost_usd) == (2, 14, 1.0)
    assert (titles.cache_read_tokens, titles.cache_write_tokens) == (10, 2)
