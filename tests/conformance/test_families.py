"""A session and its sub-agents: changed together or not at all, and what they ask is heard above."""

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from tenuto.core import accepting, delegating, questioning
from tenuto.core.accepting import Prompt
from tenuto.core.asking import Stand
from tenuto.core.desk import Change, Desk, Joint
from tenuto.core.error import Conflict, NotFound
from tenuto.core.event import Stored
from tenuto.core.message import ToolPart
from tenuto.core.principal import OWNER
from tenuto.core.question import Inquiry, Question, QuestionWord
from tenuto.core.run import Run
from tenuto.core.session import ParentCall, Session
from tenuto.core.value import CallId, QuestionId, RunId, SessionId, StreamId
from tenuto.ports.query import SessionQuery
from tenuto.ports.store import Store
from tests.conformance.driven import DrivenSession, new_session

pytestmark = pytest.mark.anyio


def below(parent: DrivenSession, name: str) -> Session:
    call = ParentCall(session_id=parent.id, run_id=parent.fence.run_id, call_id=CallId("call_1"))
    return replace(new_session(name), parent=call)


def prompt(parent: DrivenSession, name: str) -> Prompt:
    return Prompt(
        run_id=RunId(f"run_{name}"),
        by=OWNER.id,
        input="look",
        model="test/model",
        parent_run=parent.fence.run_id,
    )


async def delegated(
    parent: DrivenSession, part: ToolPart, name: str, *, known: bool = False
) -> tuple[Run, ToolPart]:
    """A call of the parent that begins, and the run of its sub-agent."""
    child, message_id = below(parent, name), await parent.open_id()
    number = len((await parent.store.snapshot(child.id)).runs) if known else 0

    def decide(desks: Mapping[SessionId, Desk]) -> Joint[tuple[Run, ToolPart] | None]:
        return delegating.begin(
            desks[parent.id],
            desks[child.id],
            parent.fence,
            prompt(parent, f"{name}_{number}"),
            part,
            message_id,
            parent.moment(),
        )

    ids = (parent.id, child.id) if known else (parent.id,)
    begun = await parent.store.commit_together(ids, decide, new=None if known else child)
    assert begun is not None
    return begun


async def at_work(store: Store, name: str = "root") -> tuple[DrivenSession, ToolPart]:
    parent = await DrivenSession.begin(store, name)
    await parent.accept("go")
    await parent.start()
    return parent, await parent.call_tool(part="prt_task")


async def log_of(store: Store, session_id: SessionId) -> tuple[Stored, ...]:
    return (await store.read(StreamId(session_id), after=0, limit=1_000)).events


async def test_a_call_begins_with_its_sub_agent_in_one_change(store: Store) -> None:
    parent, part = await at_work(store)
    run, running = await delegated(parent, part, "child")
    child = await store.session(SessionId("ses_child"))
    assert (child.queued, child.parent and child.parent.session_id) == (1, parent.id)
    assert await store.run(run.id) == run
    assert (running.state, running.details) == ("running", {"session_id": child.id})
    assert (await store.control(parent.id)).children == (child.id,)
    types = [stored.type for stored in await log_of(store, child.id)]
    assert types[0] == "run.accepted"
    assert [s.type for s in await log_of(store, parent.id)][-1] == "part.updated"


async def test_what_is_refused_leaves_nothing_of_either(store: Store) -> None:
    parent, _ = await at_work(store)
    before = await log_of(store, parent.id)

    def refuse(desks: Mapping[SessionId, Desk]) -> Joint[None]:
        child = desks[SessionId("ses_child")]
        accepting.accept(child, prompt(parent, "child"), parent.moment())
        raise Conflict("no")

    with pytest.raises(Conflict):
        await store.commit_together((parent.id,), refuse, new=below(parent, "child"))
    with pytest.raises(NotFound):
        await store.session(SessionId("ses_child"))
    assert await log_of(store, parent.id) == before

    def nothing(desks: Mapping[SessionId, Desk]) -> Joint[int]:
        return Joint(changes={}, result=len(desks))

    assert await store.commit_together((parent.id,), nothing, new=below(parent, "child")) == 2
    with pytest.raises(NotFound):
        await store.session(SessionId("ses_child"))


async def test_a_session_that_is_gone_has_no_desk(store: Store) -> None:
    parent, _ = await at_work(store)

    def seen(desks: Mapping[SessionId, Desk]) -> Joint[list[str]]:
        return Joint(changes={}, result=sorted(desks))

    found = await store.commit_together((parent.id, SessionId("ses_none")), seen)
    assert found == [parent.id]


async def test_sub_agents_are_in_no_list_but_that_of_their_session(store: Store) -> None:
    parent, part = await at_work(store)
    await delegated(parent, part, "child")
    other = await DrivenSession.begin(store, "other")
    page = await store.sessions(SessionQuery())
    assert {session.id for session in page.sessions} == {parent.id, other.id}
    (child,) = (await store.sessions(SessionQuery(parent=parent.id))).sessions
    assert (child.id, child.head) == ("ses_child", len(await log_of(store, child.id)))
    assert (await store.sessions(SessionQuery(parent=other.id))).sessions == ()
    every = await store.sessions(SessionQuery(children=True))
    assert {session.id for session in every.sessions} == {parent.id, other.id, child.id}
    of_workspace = SessionQuery(workspace_id=child.workspace_id, children=True, limit=2)
    first = await store.sessions(of_workspace)
    rest = await store.sessions(replace(of_workspace, cursor=first.next))
    assert {s.id for s in (*first.sessions, *rest.sessions)} == {parent.id, other.id, child.id}
    overview = await store.workspace_snapshot(child.workspace_id, most_sessions=9, most_runs=9)
    assert child.id not in {session.id for session in overview.sessions}
    assert {run.session_id for run in overview.runs} == {parent.id}


async def test_the_workspace_hears_nothing_of_a_sub_agent(store: Store) -> None:
    parent, part = await at_work(store)
    stream = StreamId((await store.session(parent.id)).workspace_id)
    before = (await store.read(stream, after=0, limit=1_000)).head
    await delegated(parent, part, "child")
    assert (await store.read(stream, after=0, limit=1_000)).head == before


async def asked(parent: DrivenSession, child: DrivenSession) -> Question:
    part = await child.call_tool(part="prt_ask")
    question = Question(
        id=QuestionId("qst_1"),
        session_id=child.id,
        root_session_id=parent.id,
        run_id=child.fence.run_id,
        call_id=part.call_id,
        part_id=part.id,
        questions=(Inquiry(question="Well?"),),
    )
    stand = Stand(part=part, message_id=await child.open_id())
    await child.store.commit(
        child.id,
        lambda desk: questioning.ask(desk, child.fence, question, stand, child.moment()),
    )
    return question


async def with_child(store: Store) -> tuple[DrivenSession, DrivenSession]:
    parent, part = await at_work(store)
    await delegated(parent, part, "child")
    child = DrivenSession(store, SessionId("ses_child"))
    await child.start()
    return parent, child


async def test_what_a_sub_agent_asks_is_heard_and_answered_above(store: Store) -> None:
    parent, child = await with_child(store)
    question = await asked(parent, child)
    for one in (parent.id, child.id):
        assert (await store.session(one)).state == "waiting"
        assert await store.things(one, Question) == (question,)
        assert (await store.snapshot(one)).things == (question,)
    last = (await log_of(store, parent.id))[-1]
    assert (last.type, last.run_id) == ("question.asked", parent.fence.run_id)
    assert last.event().session_id == parent.id
    said = QuestionWord(answers=(("Yes",),))

    def answer(desk: Desk) -> Change[Question]:
        return questioning.answer(desk, question.id, said, child.moment())

    answered, _ = await store.commit(question.session_id, answer)
    for one in (parent.id, child.id):
        assert (await store.session(one)).state == "running"
        assert await store.things(one, Question) == (answered,)
        assert (await store.snapshot(one)).things == ()
    assert [s.type for s in await log_of(store, parent.id)][-1] == "question.answered"


async def test_a_decision_above_does_not_take_what_is_asked_below_for_its_own(
    store: Store,
) -> None:
    parent, child = await with_child(store)
    await asked(parent, child)

    def look(desk: Desk) -> Change[tuple[Question, ...]]:
        return Change(events=(), control=desk.control, result=desk.open(Question))

    assert (await store.commit(parent.id, look))[0] == ()
    assert len((await store.commit(child.id, look))[0]) == 1


async def test_what_is_asked_below_ends_with_the_run_below(store: Store) -> None:
    parent, child = await with_child(store)
    question = await asked(parent, child)
    await parent.settle()
    # The one above had ended: what follows is of no run of it.
    await child.settle()
    last = (await log_of(store, parent.id))[-1]
    assert (last.type, last.run_id) == ("question.answered", None)
    (left,) = await store.things(parent.id, Question)
    assert (left.id, left.state) == (question.id, "cancelled")
    assert (await store.session(parent.id)).waiting_questions == 0


async def test_a_sub_agent_that_is_deleted_takes_along_what_it_asked(store: Store) -> None:
    parent, child = await with_child(store)
    await asked(parent, child)
    await child.delete()
    assert (await store.session(parent.id)).state == "running"
    assert (await store.snapshot(parent.id)).things == ()
    assert (await store.sessions(SessionQuery(parent=parent.id))).sessions == ()


async def test_a_sub_agent_goes_on_in_its_session(store: Store) -> None:
    parent, child = await with_child(store)
    await child.settle()
    again = await parent.call_tool(part="prt_again")
    run, _ = await delegated(parent, again, "child", known=True)
    assert (run.session_id, run.accept_number) == (child.id, 2)
    assert (await store.control(parent.id)).children == (child.id,)
