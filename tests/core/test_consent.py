"""Asking a person before a tool acts."""

import pytest
from msgspec.structs import replace

from tenuto.core import consent
from tenuto.core.approval import Approval, Decision, Word
from tenuto.core.error import AlreadyAnswered, Fenced, NotFound
from tenuto.core.message import ToolPart
from tenuto.core.rule import about_command
from tenuto.core.value import ApprovalId
from tests.core.little_store import LittleStore, ending


def working() -> LittleStore:
    store = LittleStore()
    store.accept()
    store.start()
    return store


def answer(
    store: LittleStore, approval_id: ApprovalId, decision: Decision, note: str | None = None
) -> Approval:
    return store.commit(
        lambda desk: consent.answer(
            desk, approval_id, Word(decision=decision, note=note), store.moment()
        )
    )


def test_a_question_is_asked_and_the_call_waits() -> None:
    store = working()
    approval_id = store.ask(store.call("shell"))
    approval = store.approvals[approval_id]
    assert (approval.tool, approval.state, approval.decided_by) == ("shell", "pending", None)
    message = store.open_message()
    assert message is not None
    (part,) = message.parts
    assert isinstance(part, ToolPart) and part.state == "waiting_approval"
    assert (store.session.state, store.session.waiting_approvals) == ("waiting", 1)


@pytest.mark.parametrize(
    ("decision", "state"),
    [("allow_once", "allowed"), ("allow_session", "allowed"), ("deny", "denied")],
)
def test_the_first_answer_wins(decision: str, state: str) -> None:
    store = working()
    approval_id = store.ask(store.call())
    given = answer(store, approval_id, Decision(decision), "as you wish")
    assert (given.state, given.decided_by, given.note) == (state, "user", "as you wish")
    assert (store.session.state, store.session.waiting_approvals) == ("running", 0)
    for second in Decision:
        with pytest.raises(AlreadyAnswered):
            answer(store, approval_id, second)
    assert store.approvals[approval_id] == given


def test_a_grant_for_the_session_answers_the_next_question_of_that_tool_only() -> None:
    store = working()
    answer(store, store.ask(store.call("shell")), Decision.ALLOW_SESSION)
    head = store.session.head
    call = store.call("shell")
    assert store.ask(call) not in store.approvals
    assert [stored.type for stored in store.log[head:]] == ["part.started"]
    assert store.ask(store.call("write_file")) in store.approvals


def test_a_grant_is_shown_and_can_be_taken_back() -> None:
    store = working()
    answer(store, store.ask(store.call("shell")), Decision.ALLOW_SESSION)
    assert list(store.session.grants) == ["shell"]
    store.commit(lambda desk: consent.revoke(desk, "shell", store.moment()))
    assert list(store.session.grants) == []
    assert store.ask(store.call("shell")) in store.approvals
    with pytest.raises(NotFound):
        store.commit(lambda desk: consent.revoke(desk, "shell", store.moment()))


def test_a_grant_of_an_older_version_counts_and_can_be_taken_back() -> None:
    store = working()
    store.control = replace(store.control, grants=("shell",))
    assert store.ask(store.call("shell")) not in store.approvals
    store.commit(lambda desk: consent.revoke(desk, "shell", store.moment()))
    assert store.ask(store.call("shell")) in store.approvals


def test_allowing_once_grants_nothing() -> None:
    store = working()
    answer(store, store.ask(store.call("shell")), Decision.ALLOW_ONCE)
    assert list(store.session.grants) == []


@pytest.mark.failure(48)
def test_a_late_grant_that_loses_leaves_no_grant() -> None:
    store = working()
    approval_id = store.ask(store.call("shell"))
    answer(store, approval_id, Decision.DENY)
    with pytest.raises(AlreadyAnswered):
        answer(store, approval_id, Decision.ALLOW_SESSION)
    assert list(store.session.grants) == []


def test_a_question_of_a_run_that_has_ended_cannot_be_answered() -> None:
    store = working()
    approval_id = store.ask(store.call())
    store.cancel()
    store.settle(ending("completed", "end_turn"))
    with pytest.raises(AlreadyAnswered):
        answer(store, approval_id, Decision.ALLOW_SESSION)
    assert list(store.session.grants) == []


def test_only_the_owner_of_a_run_may_ask() -> None:
    store = working()
    call, fence = store.call(), store.fence()
    stand = store.stand(call)
    store.settle(ending("interrupted", "server_crashed"))
    store.accept()
    store.start()
    approval = Approval(
        id=ApprovalId("apr_late"),
        session_id=store.session.id,
        run_id=fence.run_id,
        call_id=call.call_id,
        tool=call.name,
        input={},
    )
    with pytest.raises(Fenced):
        store.commit(lambda desk: consent.request(desk, fence, approval, stand, store.moment()))
    assert store.approvals == {}


def commands(*lines: str) -> tuple[LittleStore, list[ApprovalId]]:
    """A run that asks about these commands, all at once."""
    store = working()
    return store, [store.ask(store.call("shell"), about_command("shell", x)) for x in lines]


def test_a_grant_answers_what_else_is_asked_as_far_as_it_goes() -> None:
    store, asked = commands("git status", "git status -s", "git log", "echo $(git status)")
    word = Word(decision=Decision.ALLOW_SESSION, suggestion=1)
    store.commit(lambda desk: consent.answer(desk, asked[0], word, store.moment()))
    states = [store.approvals[one] for one in asked]
    assert [(one.state, one.decided_by) for one in states] == [
        ("allowed", "user"),
        ("allowed", "rule"),
        ("pending", None),
        ("pending", None),
    ]
    assert store.session.grants == ("shell git status *",)


def test_what_is_allowed_once_or_denied_answers_nothing_else() -> None:
    for decision in (Decision.ALLOW_ONCE, Decision.DENY):
        store, asked = commands("git status", "git status")
        answer(store, asked[0], decision)
        assert store.approvals[asked[1]].state == "pending"
        assert store.session.grants == ()


def test_what_is_allowed_always_is_no_grant_of_the_session() -> None:
    store, asked = commands("git status", "git status")
    word = Word(decision=Decision.ALLOW_ALWAYS, suggestion=0)
    store.commit(lambda desk: consent.answer(desk, asked[0], word, store.moment()))
    assert store.session.grants == ()
    assert store.approvals[asked[1]].state == "allowed"
