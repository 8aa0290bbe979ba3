"""Comparisons: what is hidden, what the vote shows, and what it leaves alone."""

from typing import Any

import msgspec
import pytest

from tenuto.core import comparison as judging
from tenuto.core import editing
from tenuto.core.comparison import Comparison, Pane, Winner, pane_session, shown
from tenuto.core.desk import Moment
from tenuto.core.error import AlreadyAnswered, Conflict, InvalidInput, NotFound
from tenuto.core.run import Ending, Mode, Reason, RunError, RunStatus, Usage
from tenuto.core.session import DEFAULT_WORKSPACE, Session, SessionChanges, TitleSource
from tenuto.core.value import ComparisonId, SessionId
from tests.core.little_store import NODE, START, LittleStore, ending, plain

MOMENT = Moment(now=START, node=NODE)
SECRET = "house/top-secret-9"
USED = Usage(input_tokens=5, output_tokens=7, cache_read_tokens=3, cost_usd=0.25)
FAILED = Ending(
    status=RunStatus.FAILED,
    reason=Reason.PROVIDER_ERROR,
    error=RunError(code="provider_error", message=f"{SECRET} is overloaded"),
    usage=USED,
)


def compared(*, blind: bool = True, panes: int = 2) -> Comparison:
    return Comparison(
        id=ComparisonId("cmp_1"),
        workspace_id=DEFAULT_WORKSPACE,
        mode=Mode.CHAT,
        blind=blind,
        created_at=START,
        panes=tuple(
            Pane(session_id=SessionId(f"ses_{n}"), model=SECRET if n == 0 else f"house/m{n}")
            for n in range(panes)
        ),
    )


def laid_out(comparison: Comparison) -> list[LittleStore]:
    """A store for each pane, as it begins."""
    stores = []
    for n in range(len(comparison.panes)):
        session, control = pane_session(comparison, n)
        store = LittleStore(**msgspec.structs.asdict(session))
        store.control = control
        stores.append(store)
    return stores


def desks(stores: list[LittleStore]) -> dict[SessionId, Any]:
    return {store.session.id: store.desk() for store in stores}


def vote(comparison: Comparison, stores: list[LittleStore], winner: Winner = 0) -> Comparison:
    verdict = judging.vote(comparison, desks(stores), winner, MOMENT)
    for store in stores:
        if store.session.id in verdict.changes:
            store.keep(verdict.changes[store.session.id])
    return verdict.comparison


def all_of(store: LittleStore) -> bytes:
    """Everything that can be read of a pane: its log and its rows."""
    rows = (store.session, store.runs, store.messages, store.approvals)
    return b"".join(stored.body for stored in store.log) + msgspec.json.encode(rows)


def folds_to_its_rows(store: LittleStore) -> bool:
    return list(store.fold().runs.values()) == plain(store.runs.values())


@pytest.mark.failure(50)
def test_nothing_of_a_blind_pane_names_its_model_before_the_vote() -> None:
    comparison = compared()
    store = laid_out(comparison)[0]
    for how in (
        ending("completed", "end_turn", USED),
        FAILED,
        ending("interrupted", "server_crashed"),
    ):
        store.accept()
        started = store.start()
        assert (started.model, started.run.model) == (SECRET, None)
        store.say("hello")
        store.settle(how)
    store.accept()
    store.cancel()
    assert SECRET.encode() not in all_of(store)
    assert b"0.25" not in all_of(store)
    assert SECRET.encode() not in msgspec.json.encode(shown(comparison, (store.session,)))
    assert store.session.usage.output_tokens == 14
    assert folds_to_its_rows(store)


def test_the_code_of_a_hidden_error_is_kept() -> None:
    store = laid_out(compared())[0]
    store.accept()
    store.start()
    run = store.settle(FAILED)
    assert run.error is not None and run.error.code == "provider_error"
    assert "vote" in run.error.message
    # Nor is it told what the provider had kept: not everyone keeps anything.
    assert (run.usage.cost_usd, run.usage.cache_read_tokens) == (None, 0)


def test_the_vote_shows_everything_that_was_hidden() -> None:
    comparison = compared()
    stores = laid_out(comparison)
    for how in (FAILED, ending("completed", "end_turn", USED)):
        stores[0].accept()
        stores[0].start()
        stores[0].settle(how)
    active, queued = stores[0].accept(), stores[0].accept()
    stores[0].start()
    voted = vote(comparison, stores)
    store = stores[0]
    assert {run.model for run in store.runs.values()} == {SECRET}
    failed, done = list(store.runs.values())[:2]
    assert failed.error == FAILED.error
    assert failed.usage == done.usage == USED
    assert store.session.model == SECRET
    assert (store.session.usage.cost_usd, store.session.usage.cache_read_tokens) == (0.5, 6)
    assert store.session.comparison is not None and store.session.comparison.voted
    assert [pane.model for pane in shown(voted, ()).panes] == [SECRET, "house/m1"]
    assert folds_to_its_rows(store)
    # What was under way goes on in the open.
    assert store.runs[active].status == "running"
    store.settle(FAILED)
    assert store.runs[active].error == FAILED.error
    assert store.start().model == SECRET
    assert store.runs[queued].model == SECRET
    assert folds_to_its_rows(store)


def test_nothing_of_a_run_follows_its_end_in_the_log() -> None:
    comparison = compared()
    stores = laid_out(comparison)
    run_id = stores[0].accept()
    stores[0].start()
    stores[0].settle(FAILED)
    vote(comparison, stores)
    assert stores[0].kinds(run_id)[-1] == "run.finished"


def test_there_is_one_vote() -> None:
    comparison = compared()
    stores = laid_out(comparison)
    voted = vote(comparison, stores, "tie")
    with pytest.raises(AlreadyAnswered):
        vote(voted, stores, 0)


@pytest.mark.parametrize("winner", [-1, 2, 99])
def test_a_vote_is_for_a_pane_that_is_there(winner: int) -> None:
    comparison = compared()
    with pytest.raises(InvalidInput):
        vote(comparison, laid_out(comparison), winner)


def test_a_deleted_pane_cannot_win_and_takes_no_part() -> None:
    comparison = compared(panes=3)
    stores = laid_out(comparison)
    with pytest.raises(InvalidInput):
        vote(comparison, stores[1:], 0)
    voted = vote(comparison, stores[1:], 1)
    assert voted.vote is not None and voted.vote.among == (1, 2)


def test_an_open_comparison_shows_its_models_from_the_start() -> None:
    comparison = compared(blind=False)
    store = laid_out(comparison)[0]
    assert store.session.model == SECRET
    store.accept()
    assert store.start().run.model == "test/model"
    assert store.settle(FAILED).error == FAILED.error
    assert [pane.model for pane in shown(comparison, ()).panes] == [SECRET, "house/m1"]


def test_a_blind_pane_is_kept_only_after_the_vote() -> None:
    comparison = compared()
    stores = laid_out(comparison)
    with pytest.raises(Conflict):
        judging.keep(comparison, desks(stores), 0, MOMENT)
    voted = vote(comparison, stores)
    verdict = judging.keep(voted, desks(stores), 0, MOMENT)
    stores[0].keep(verdict.changes[stores[0].session.id])
    assert stores[0].session.comparison is None
    assert judging.keep(voted, desks(stores), 0, MOMENT).changes == {}
    states = [pane.state for pane in shown(voted, [s.session for s in stores]).panes]
    assert states == ["kept", "open"]


def test_a_pane_that_is_not_there_cannot_be_kept() -> None:
    comparison = compared(blind=False)
    stores = laid_out(comparison)
    with pytest.raises(InvalidInput):
        judging.keep(comparison, desks(stores), 2, MOMENT)
    with pytest.raises(NotFound):
        judging.keep(comparison, desks(stores[1:]), 0, MOMENT)


@pytest.mark.parametrize("blind", [True, False])
def test_a_pane_keeps_its_model_and_gets_no_made_up_title(blind: bool) -> None:
    comparison = compared(blind=blind)
    store = laid_out(comparison)[0]
    for model in (SECRET, "house/m1", None):
        with pytest.raises(InvalidInput):
            store.commit(lambda d: editing.update(d, SessionChanges(model=model), MOMENT))  # noqa: B023
    store.accept("what is best in life")
    store.commit(lambda desk: editing.name(desk, "A talk with a model", MOMENT))
    assert store.session.title == "what is best in life"
    assert store.session.title_source is TitleSource.PROVISIONAL


def test_a_comparison_is_titled_by_what_was_asked() -> None:
    comparison = compared()
    stores = laid_out(comparison)
    assert shown(comparison, [store.session for store in stores]).title == ""
    stores[1].accept("why is the sky blue")
    sessions: list[Session] = [store.session for store in stores]
    assert shown(comparison, sessions).title == "why is the sky blue"
