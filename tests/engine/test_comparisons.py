"""Comparisons: laid out blind, asked together, voted on once, kept and removed."""

from typing import cast

import msgspec
import pytest

from tenuto.core.comparison import PaneState, ShownComparison, Winner
from tenuto.core.error import AlreadyAnswered, Conflict, InvalidInput, NotFound, SessionBusy
from tenuto.core.principal import OWNER
from tenuto.core.run import OnDisconnect, Run
from tenuto.core.value import Instant
from tenuto.engine.comparisons import NewComparison
from tenuto.engine.engine import Switchboard
from tenuto.ports.query import ComparisonQuery, Once
from tenuto.storage.memory import MemoryStore
from tests.conformance.driven import DrivenSession, make_workspace
from tests.engine.harness import EngineHarness

pytestmark = pytest.mark.anyio

MODELS = ("lab/red", "lab/blue")
BLIND = NewComparison(models=MODELS)


async def laid_out(new: NewComparison = BLIND) -> tuple[EngineHarness, ShownComparison]:
    harness = EngineHarness(MemoryStore(Switchboard()), Switchboard())
    await make_workspace(harness.store)
    return harness, await harness.engine.comparisons.create(new, by=OWNER)


async def ask(harness: EngineHarness, shown: ShownComparison, text: str) -> tuple[Run, ...]:
    return await harness.engine.panes.prompt(
        shown.id, shown.panes, text, on_disconnect=OnDisconnect.CONTINUE, by=OWNER
    )


async def test_nothing_that_is_answered_before_the_vote_names_a_model() -> None:
    harness, shown = await laid_out()
    runs = await ask(harness, shown, "Which?")
    page = await harness.engine.comparisons.list(ComparisonQuery(limit=9), by=OWNER)
    read = await harness.engine.comparisons.read(shown.id, by=OWNER)
    told = msgspec.json.encode((shown, runs, page, read))
    assert not [model for model in MODELS if model.encode() in told]
    assert [pane.label for pane in shown.panes] == ["A", "B"]


async def test_an_open_comparison_keeps_its_order_and_tells_its_models() -> None:
    _, shown = await laid_out(NewComparison(models=MODELS, blind=False))
    assert tuple(pane.model for pane in shown.panes) == MODELS


async def test_a_vote_shows_every_model_and_is_taken_once() -> None:
    harness, shown = await laid_out()
    voted = await harness.engine.comparisons.vote(shown.id, 1, by=OWNER)
    assert (voted.voted, voted.winner) == (True, 1)
    assert {pane.model for pane in voted.panes} == set(MODELS)
    for pane in voted.panes:
        assert (await harness.store.session(pane.session_id)).model == pane.model
    with pytest.raises(AlreadyAnswered):
        await harness.engine.comparisons.vote(shown.id, 0, by=OWNER)
    assert (await harness.engine.comparisons.read(shown.id, by=OWNER)).winner == 1


async def test_the_same_key_votes_once_and_is_answered_again() -> None:
    harness, shown = await laid_out()
    once = Once(key="k", digest="d", at=Instant("2030-01-01T00:00:00.000Z"), by=OWNER.id)
    first = await harness.engine.comparisons.vote(shown.id, "tie", once=once, by=OWNER)
    assert await harness.engine.comparisons.vote(shown.id, "tie", once=once, by=OWNER) == first


@pytest.mark.parametrize("winner", [2, -1])
async def test_a_vote_for_a_pane_that_is_not_there_changes_nothing(winner: int) -> None:
    harness, shown = await laid_out()
    with pytest.raises(InvalidInput):
        await harness.engine.comparisons.vote(shown.id, cast("Winner", winner), by=OWNER)
    assert not (await harness.engine.comparisons.read(shown.id, by=OWNER)).voted


async def test_all_panes_take_a_prompt_or_none_does() -> None:
    harness, shown = await laid_out()
    await DrivenSession(harness.store, shown.panes[1].session_id).accept("first")
    await ask(harness, shown, "both")
    queues = [(await harness.store.session(pane.session_id)).queued for pane in shown.panes]
    assert queues == [1, 2]
    # Asking again what was asked last needs every pane to be free.
    with pytest.raises((SessionBusy, Conflict)):
        await harness.engine.panes.prompt(
            shown.id, shown.panes, None, on_disconnect=OnDisconnect.CONTINUE, by=OWNER
        )
    queues = [(await harness.store.session(pane.session_id)).queued for pane in shown.panes]
    assert queues == [1, 2]


async def test_a_pane_is_kept_after_the_vote_only_and_then_a_session_of_its_own() -> None:
    harness, shown = await laid_out()
    with pytest.raises(Conflict):
        await harness.engine.comparisons.keep(shown.id, 0, by=OWNER)
    await harness.engine.comparisons.vote(shown.id, 0, by=OWNER)
    kept = await harness.engine.comparisons.keep(shown.id, 0, by=OWNER)
    assert kept.comparison is None
    assert await harness.engine.comparisons.keep(shown.id, 0, by=OWNER) == kept
    read = await harness.engine.comparisons.read(shown.id, by=OWNER)
    assert [pane.state for pane in read.panes] == [PaneState.KEPT, PaneState.OPEN]
    with pytest.raises(InvalidInput):
        await ask(harness, shown, "too late for the first")


async def test_a_deleted_comparison_takes_its_panes_but_not_what_was_kept() -> None:
    harness, shown = await laid_out()
    await harness.engine.comparisons.vote(shown.id, 0, by=OWNER)
    kept = await harness.engine.comparisons.keep(shown.id, 0, by=OWNER)
    await harness.engine.comparisons.delete(shown.id, by=OWNER)
    assert (await harness.store.session(kept.id)).id == kept.id
    for gone in (
        harness.store.session(shown.panes[1].session_id),
        harness.engine.comparisons.read(shown.id, by=OWNER),
    ):
        with pytest.raises(NotFound):
            await gone


async def test_the_scoreboard_counts_votes_and_games() -> None:
    harness, shown = await laid_out()
    assert (await harness.engine.comparisons.scoreboard(by=OWNER)).models == ()
    voted = await harness.engine.comparisons.vote(shown.id, 0, by=OWNER)
    board = await harness.engine.comparisons.scoreboard(by=OWNER)
    assert board.votes == 1
    assert [(one.model, one.games, one.wins) for one in board.models] == [
        (voted.panes[0].model, 1, 1),
        (voted.panes[1].model, 1, 0),
    ]
