"""Events: as stored and as clients see them."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from tenuto.core import event as events
from tenuto.core.approval import Approval
from tenuto.core.event import Event, store_as
from tenuto.core.file_change import FileChange
from tenuto.core.job import Job
from tenuto.core.message import FilePart, ReasoningPart, TextPart, ToolPart, user_message
from tenuto.core.question import Inquiry, Option, Question
from tenuto.core.session import Session, SessionChanges
from tenuto.core.value import (
    ApprovalId,
    CallId,
    ChangeId,
    FileId,
    Instant,
    JobId,
    MessageId,
    NodeId,
    PartId,
    PrincipalId,
    QuestionId,
    RunId,
    SessionId,
    WorkspaceId,
)
from tests.core.test_run import NOW, QUEUED, RUNNING, ending

COMMON: dict[str, Any] = {"session_id": SessionId("ses_1"), "run_id": QUEUED.id, "at": NOW}
OF_SESSION: dict[str, Any] = {"session_id": SessionId("ses_1"), "at": NOW}
SESSION = Session(
    id=SessionId("ses_1"), workspace_id=WorkspaceId("default"), created_at=NOW, updated_at=NOW
)
APPROVAL = Approval(
    id=ApprovalId("apr_1"),
    session_id=SessionId("ses_1"),
    run_id=QUEUED.id,
    call_id=CallId("call_1"),
    tool="shell",
    input={"command": "ls"},
)
CHANGE = FileChange(
    id=ChangeId("run_1:a"),
    session_id=SessionId("ses_1"),
    run_id=RunId("run_1"),
    call_id=CallId("call_1"),
    path="a",
)
JOB = Job(
    id=JobId("job_1"),
    session_id=SessionId("ses_1"),
    run_id=RunId("run_1"),
    call_id=CallId("call_1"),
    name="server",
    command="npm start",
    node=NodeId("node_1"),
    started_at=Instant(NOW),
)
QUESTION = Question(
    id=QuestionId("qst_1"),
    session_id=SessionId("ses_1"),
    root_session_id=SessionId("ses_1"),
    run_id=QUEUED.id,
    call_id=CallId("call_1"),
    part_id=PartId("prt_1"),
    questions=(Inquiry(question="Well?", options=(Option(label="Yes"),)),),
)
MSG = MessageId("msg_1")
TOOL = ToolPart(id=PartId("prt_3"), call_id=CallId("call_1"), name="shell", input={"a": [1, None]})
FILE = FilePart(
    id=PartId("prt_4"), file_id=FileId("fil_1"), name="a.png", media_type="image/png", size=3
)
RUN_FIELDS = (
    "id session_id by status reason error model mode when_busy on_disconnect accept_number held on_interrupt continued "
    "accepted_at started_at finished_at input steered_into continues effort options attended "
    "waiting notices usage"
)
SESSION_FIELDS = (
    "id workspace_id by title title_source model system pinned archived draft created_at updated_at "
    "head state active_run queued usage"
)
ALL: dict[str, tuple[Event, str]] = {
    "run.accepted": (events.RunAccepted(**COMMON, run=QUEUED), "run"),
    "run.started": (events.RunStarted(**COMMON, run=RUNNING), "run"),
    "run.updated": (events.RunUpdated(**COMMON, run=QUEUED), "run"),
    "run.finished": (
        events.RunFinished(**COMMON, run=RUNNING.end(ending("failed", "internal"), NOW)),
        "run",
    ),
    "message.started": (
        events.MessageStarted(**COMMON, message=user_message(QUEUED, of=QUEUED.id)),
        "message",
    ),
    "part.started": (events.PartStarted(**COMMON, message_id=MSG, part=TOOL), "message_id part"),
    "part.delta": (
        events.PartDelta(
            **COMMON, message_id=MSG, part_id=PartId("prt_1"), offset=3, text="\u00e9\n\u2028👩‍👩‍👧"
        ),
        "message_id part_id offset text",
    ),
    "part.updated": (events.PartUpdated(**COMMON, message_id=MSG, part=FILE), "message_id part"),
    "message.finished": (
        events.MessageFinished(**COMMON, message_id=MSG, finish_reason="end_turn"),
        "message_id finish_reason",
    ),
    "approval.requested": (events.ApprovalRequested(**COMMON, approval=APPROVAL), "approval"),
    "approval.resolved": (
        events.ApprovalResolved(**COMMON, approval=APPROVAL.withdraw()),
        "approval",
    ),
    "file.changing": (events.FileChanging(**COMMON, change=CHANGE), "change"),
    "file.changed": (events.FileChanged(**COMMON, change=CHANGE), "change"),
    "job.started": (events.JobStarted(**COMMON, job=JOB), "job"),
    "job.updated": (events.JobUpdated(**COMMON, job=JOB), "job"),
    "job.ended": (events.JobEnded(**COMMON, job=JOB), "job"),
    "question.asked": (events.QuestionAsked(**COMMON, question=QUESTION), "question"),
    "question.answered": (
        events.QuestionAnswered(**COMMON, question=QUESTION.withdraw()),
        "question",
    ),
    "session.created": (events.SessionCreated(**OF_SESSION, session=SESSION), "session"),
    "session.updated": (
        events.SessionUpdated(**OF_SESSION, changes=SessionChanges(title="a")),
        "changes",
    ),
    "session.rewound": (events.SessionRewound(**OF_SESSION, removed=(MSG,)), "removed"),
    "session.compacted": (
        events.SessionCompacted(**COMMON, through_message_id=MSG, summary="s"),
        "through_message_id through_part_id summary",
    ),
    "session.deleted": (events.SessionDeleted(**OF_SESSION), ""),
}


def seen(event: Event) -> dict[str, Any]:
    decoded: dict[str, Any] = json.loads(store_as(event, 7).json())
    return decoded


@pytest.mark.parametrize("kind", ALL)
def test_what_is_stored_is_read_back_the_same(kind: str) -> None:
    event, _ = ALL[kind]
    stored = store_as(event, 7)
    assert (stored.seq, stored.type, stored.run_id) == (7, kind, event.run_id)
    assert stored.event() == event


@pytest.mark.parametrize("kind", ALL)
def test_a_client_sees_the_common_fields_and_the_events_own(kind: str) -> None:
    event, own = ALL[kind]
    data = seen(event)
    assert data.keys() == {"type", "seq", "session_id", "run_id", "at", *own.split()}
    assert (data["type"], data["seq"], data["session_id"], data["at"]) == (kind, 7, "ses_1", NOW)


@pytest.mark.parametrize("kind", ALL)
def test_what_somebody_caused_says_who_did(kind: str) -> None:
    event = replace(ALL[kind][0], by=PrincipalId("ann"))
    assert seen(event) == {**seen(ALL[kind][0]), "by": "ann"}
    assert store_as(event, 7).event() == event


@pytest.mark.parametrize("kind", ALL)
def test_an_event_is_one_line_whatever_is_in_it(kind: str) -> None:
    assert b"\n" not in store_as(ALL[kind][0], 1).json()


def test_a_run_and_a_session_have_all_their_fields_also_when_they_say_nothing() -> None:
    assert seen(ALL["run.accepted"][0])["run"].keys() == set(RUN_FIELDS.split())
    assert seen(ALL["session.created"][0])["session"].keys() >= set(SESSION_FIELDS.split())
    usage = seen(ALL["run.accepted"][0])["run"]["usage"]
    assert usage.keys() == {
        "input_tokens",
        "output_tokens",
        "reasoning_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "exact",
        "cost_usd",
    }


@pytest.mark.parametrize(
    ("part", "fields"),
    [
        (TextPart(id=PartId("p")), "id type text"),
        (ReasoningPart(id=PartId("p")), "id type text"),
        (FILE, "id type file_id name media_type size"),
        (TOOL, "id type call_id name input input_text state output error"),
    ],
)
def test_each_part_has_its_fields(part: Any, fields: str) -> None:
    event = events.PartStarted(**COMMON, message_id=MSG, part=part)
    assert seen(event)["part"].keys() == set(fields.split())


def test_a_message_and_an_approval_have_their_fields() -> None:
    message = seen(ALL["message.started"][0])["message"]
    assert message.keys() == {
        "id",
        "session_id",
        "run_id",
        "role",
        "parts",
        "finish_reason",
        "created_at",
    }
    approval = seen(ALL["approval.requested"][0])["approval"]
    assert approval.keys() >= {"id", "run_id", "call_id", "tool", "input", "state", "decided_by"}


def test_a_job_has_its_fields() -> None:
    job = seen(ALL["job.started"][0])["job"]
    wanted = "id session_id run_id name command state exit_code started_at ended_at"
    assert job.keys() >= set(wanted.split())
    assert (job["state"], job["exit_code"], job["ended_at"]) == ("running", None, None)


def test_a_question_has_its_fields() -> None:
    question = seen(ALL["question.asked"][0])["question"]
    wanted = "id session_id root_session_id run_id call_id questions state answers answered_by"
    assert question.keys() >= set(wanted.split())
    assert question["questions"] == [
        {"question": "Well?", "options": [{"label": "Yes", "about": ""}], "multiple": False}
    ]


def test_every_kind_of_event_is_here() -> None:
    named = {kind for kind in vars(events).values() if isinstance(kind, type)}
    told = {kind for kind in named if issubclass(kind, events.EventBase)}
    concrete = {kind for kind in told if not kind.__subclasses__()}
    assert {type(event) for event, _ in ALL.values()} == concrete


def test_a_stored_event_can_be_moved_without_being_read() -> None:
    stored = store_as(ALL["part.delta"][0], 1)
    assert json.loads(replace(stored, seq=99).json())["seq"] == 99
