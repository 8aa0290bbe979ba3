"""Who may start which run, and what a run says while nobody may."""

import pytest
from msgspec.structs import replace

from tenuto.core import waiting
from tenuto.core.desk import Desk, Moment
from tenuto.core.event import RunUpdated
from tenuto.core.home import may_start
from tenuto.core.run import Mode, OnDisconnect, Run, RunStatus, Waiting, WhenBusy
from tenuto.core.session import Control, Session, Workspace
from tenuto.core.starting import start_next
from tenuto.core.value import Instant, NodeId, RunId, SessionId, WorkspaceId

BEFORE, NOW, LATER = (Instant(f"2026-01-01T00:00:0{n}.000Z") for n in (1, 2, 3))
HERE = WorkspaceId("wsp_a")
SESSION = Session(id=SessionId("ses_a"), workspace_id=HERE, created_at=NOW, updated_at=NOW)
MOMENT = Moment(now=LATER, node=NodeId("node_a"))


def workspace(home: str | None) -> Workspace:
    return Workspace(id=HERE, name="a", path="a", home=home, created_at=NOW)


def queued(mode: Mode = Mode.AGENT) -> Run:
    return Run(
        id=RunId("run_a"),
        session_id=SESSION.id,
        status=RunStatus.QUEUED,
        model="lab/one",
        mode=mode,
        when_busy=WhenBusy.QUEUE,
        on_disconnect=OnDisconnect.CONTINUE,
        accept_number=1,
        accepted_at=NOW,
        input="look",
    )


def desk(*queue: Run) -> Desk:
    control = Control(accept_count=1, queue=tuple(run.id for run in queue))
    return Desk(session=SESSION, control=control, active=None, queue=queue)


@pytest.mark.parametrize(
    ("home", "sees", "may"),
    [
        (None, False, True),
        ("left", False, True),
        ("right", True, False),
        ("shared", True, True),
        ("shared", False, False),
    ],
)
def test_an_agent_starts_only_where_its_folder_is_and_a_chat_anywhere(
    home: str | None, sees: bool, may: bool
) -> None:
    where = workspace(home)
    assert may_start(queued(), where, node="left", sees=sees) is may
    for mode in (Mode.CHAT, Mode.COMPACT):
        assert may_start(queued(mode), where, node="left", sees=sees)


def test_who_may_not_start_it_changes_nothing() -> None:
    change = start_next(desk(queued()), MOMENT, may=lambda run: False)
    assert (change.result, change.events) == (None, ())
    assert change.control == desk(queued()).control


def test_a_run_says_once_that_its_node_is_away() -> None:
    change = waiting.for_home(desk(queued()), MOMENT)
    (event,) = change.events
    assert isinstance(event, RunUpdated)
    assert event.run == replace(queued(), waiting=Waiting(reason="node_away"))
    assert waiting.for_home(desk(event.run), MOMENT).events == ()


def test_a_chat_and_a_run_that_has_just_come_say_nothing() -> None:
    assert waiting.for_home(desk(queued(Mode.CHAT)), MOMENT).events == ()
    assert waiting.for_home(desk(queued()), MOMENT, since=BEFORE).events == ()
    assert waiting.for_home(desk(queued()), MOMENT, since=LATER).events != ()
    assert waiting.for_home(desk(), MOMENT).events == ()


def test_a_run_that_starts_after_all_says_it_no_more() -> None:
    away = replace(queued(), waiting=Waiting(reason="node_away"))
    started = start_next(desk(away), MOMENT).result
    assert started is not None
    assert started.run.waiting is None
