"""Whose things are whose, in every store."""

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from tenuto.core import comparison as comparing
from tenuto.core.approval import Decision
from tenuto.core.comparison import Comparison, Pane
from tenuto.core.event import Event
from tenuto.core.file import FileInfo
from tenuto.core.principal import OWNER, Principal
from tenuto.core.run import Ending, Mode, Reason, RunStatus, Usage, WhenBusy
from tenuto.core.session import DEFAULT_WORKSPACE, Workspace
from tenuto.core.value import ComparisonId, FileId, PrincipalId, SessionId, WorkspaceId
from tenuto.ports.query import Once
from tenuto.ports.store import Store
from tests.conformance.driven import START, DrivenSession, instant, new_session, whole_log

pytestmark = pytest.mark.anyio

ANN, BOB = Principal(id=PrincipalId("ann")), Principal(id=PrincipalId("bob"))
DAY = "2030-01-01"
PAID = Ending(status=RunStatus.COMPLETED, reason=Reason.END_TURN, usage=Usage(input_tokens=10))


def told(events: list[Event]) -> list[str]:
    """Each event, and by whom if by anyone."""
    kinds = (event.__struct_config__.tag for event in events)
    return [
        f"{kind} {event.by}" if event.by is not UNSET else str(kind)
        for kind, event in zip(kinds, events, strict=True)
    ]


async def life_of(store: Store, who: Principal, name: str = "one") -> DrivenSession:
    session = await store.create_session(new_session(name, by=who.id))
    driven = DrivenSession(store, session.id)
    driven.by = who
    return driven


async def test_a_log_says_of_what_somebody_caused_who_did_and_of_the_rest_nothing(
    store: Store,
) -> None:
    driven = await life_of(store, ANN)
    await driven.accept("hello")
    await driven.start()
    await driven.say("hi")
    approval = await driven.ask(await driven.call_tool())
    driven.by = BOB
    await driven.answer(approval, Decision.ALLOW_SESSION)
    await driven.settle()
    await driven.undo()
    assert told(await whole_log(store, driven.id)) == [
        "run.accepted ann",
        "session.updated ann",
        "run.started",
        "message.started",
        "message.started",
        *("part.started", "part.delta"),
        *("part.started", "part.delta", "part.delta", "part.updated"),
        *("part.updated", "approval.requested"),
        "approval.resolved bob",
        "session.updated bob",
        *("part.updated", "message.finished", "run.finished"),
        "session.rewound bob",
    ]
    assert told(await whole_log(store, DEFAULT_WORKSPACE)) == [
        "session.created ann",
        "run.accepted ann",
        "session.updated ann",
        "run.started",
        "approval.requested",
        "approval.resolved bob",
        "session.updated bob",
        "run.finished",
        "session.rewound bob",
    ]


async def test_a_run_that_was_cancelled_says_who_cancelled_it_whenever_it_ends(
    store: Store,
) -> None:
    driven = await life_of(store, ANN)
    await driven.accept("runs")
    await driven.start()
    await driven.accept("waits")
    driven.by = BOB
    await driven.cancel()
    driven.by = ANN
    await driven.cancel()
    head = (await store.session(driven.id)).head
    await driven.settle()
    assert told(await whole_log(store, driven.id))[-5:] == [
        "message.started bob",
        "message.finished bob",
        "run.finished bob",
        "message.finished bob",
        "run.finished bob",
    ]
    assert (await store.session(driven.id)).head == head + 2
    await driven.turn("the next is nobody's cancel", "hi")
    assert told(await whole_log(store, driven.id))[-1] == "run.finished"


async def test_a_prompt_stays_its_writers_whoever_else_is_about(store: Store) -> None:
    driven = await life_of(store, ANN)
    first = await driven.accept("one")
    await driven.start()
    driven.by = BOB
    second = await driven.accept("two", when_busy=WhenBusy.STEER)
    await driven.steer()
    await driven.settle()
    gone_on = await driven.go_on(first.id)
    assert [(await store.run(run.id)).by for run in (first, second, gone_on)] == [
        "ann",
        "bob",
        "bob",
    ]
    assert (await store.session(driven.id)).by == "ann"


async def test_a_deleted_session_says_who_deleted_it(store: Store) -> None:
    driven = await life_of(store, ANN)
    await driven.accept("runs")
    await driven.start()
    driven.by = BOB
    await driven.delete()
    assert told(await whole_log(store, driven.id))[-3:] == [
        "message.finished bob",
        "run.finished bob",
        "session.deleted bob",
    ]
    assert told(await whole_log(store, DEFAULT_WORKSPACE))[-2:] == [
        "run.finished bob",
        "session.deleted bob",
    ]


async def test_the_same_key_of_two_principals_is_two_keys(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    anns = Once(by=ANN.id, key="POST /runs k", digest="d", at=instant(1))
    bobs = replace(anns, by=BOB.id, digest="another")
    first = await driven.accept("hello", once=anns)
    second = await driven.accept("hello", once=bobs)
    assert first.id != second.id
    assert (await driven.accept("hello", once=anns)).id == first.id
    assert (await driven.accept("hello", once=bobs)).id == second.id
    assert await store.answered(replace(anns, by=OWNER.id), object) is None


async def test_usage_is_kept_apart_by_who_prompted_and_summed_for_all(store: Store) -> None:
    driven = await life_of(store, ANN)
    for who, prompts in ((ANN, 1), (BOB, 2)):
        driven.by = who
        for _ in range(prompts):
            await driven.accept("hello")
            await driven.start()
            await driven.settle(PAID)
    (anns,) = await store.usage(since=DAY, by=ANN.id)
    (bobs,) = await store.usage(since=DAY, by=BOB.id)
    (all_of_it,) = await store.usage(since=DAY)
    assert [(one.runs, one.input_tokens) for one in (anns, bobs, all_of_it)] == [
        (1, 10),
        (2, 20),
        (3, 30),
    ]
    assert list(await store.usage(since=DAY, by=OWNER.id)) == []


async def test_a_comparison_its_panes_and_its_vote_say_whose_they_are(store: Store) -> None:
    panes = [Pane(session_id=SessionId(f"ses_{name}"), model=f"m/{name}") for name in "ab"]
    made = Comparison(
        id=ComparisonId("cmp_one"),
        workspace_id=DEFAULT_WORKSPACE,
        mode=Mode.CHAT,
        blind=True,
        by=ANN.id,
        created_at=START,
        panes=tuple(panes),
    )
    await store.create_comparison(made)
    driven = DrivenSession(store, panes[0].session_id)
    driven.by = BOB
    await driven.accept("hello")
    await driven.start()
    await driven.settle(PAID)
    moment = driven.asked()
    await store.judge(made.id, lambda one, desks: comparing.vote(one, desks, 0, moment))
    await store.judge(made.id, lambda one, desks: comparing.keep(one, desks, 0, moment))
    found = await store.comparison(made.id)
    assert found.comparison.by == "ann"
    assert found.comparison.vote is not None
    assert found.comparison.vote.by == "bob"
    assert [session.by for session in found.sessions] == ["ann", "ann"]
    assert told(await whole_log(store, driven.id))[-2:] == ["session.updated bob"] * 2
    assert told(await whole_log(store, DEFAULT_WORKSPACE)) == ["session.created bob"]
    # The vote moved what was hidden to its model, and left it with who prompted.
    (bobs,) = await store.usage(since=DAY, by=BOB.id)
    assert (bobs.model, bobs.runs) == ("m/a", 1)


async def test_files_and_workspaces_say_whose_they_are(store: Store) -> None:
    info = FileInfo(
        id=FileId("fil_a"), name="a", media_type="t/x", size=1, by=ANN.id, created_at=START
    )
    await store.put_file(info, b"x")
    place = Workspace(id=WorkspaceId("wsp_a"), name="a", path="/a", by=BOB.id, created_at=START)
    await store.put_workspace(place)
    assert (await store.file(info.id)).by == "ann"
    assert (await store.workspace(place.id)).by == "bob"


async def test_the_owner_sees_everything(store: Store) -> None:
    driven = await life_of(store, ANN)
    assert (await store.seen_by(OWNER).session(driven.id)).by == "ann"
