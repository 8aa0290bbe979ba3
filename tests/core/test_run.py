"""The life of a run: which step may follow which, and why it may end."""

import pytest

from tenuto.core.error import Conflict
from tenuto.core.run import (
    Ending,
    Mode,
    OnDisconnect,
    Reason,
    Run,
    RunError,
    RunStatus,
    Usage,
    WhenBusy,
)
from tenuto.core.value import Instant, RunId, SessionId
from tests.oracle.ending import REASONS

NOW = Instant("2030-01-01T00:00:00.000Z")
LATER = Instant("2030-01-01T00:00:01.000Z")
QUEUED = Run(
    id=RunId("run_1"),
    session_id=SessionId("ses_1"),
    status=RunStatus.QUEUED,
    model="test/model",
    mode=Mode.AGENT,
    when_busy=WhenBusy.QUEUE,
    on_disconnect=OnDisconnect.CONTINUE,
    accept_number=1,
    accepted_at=NOW,
    input="hi",
)
RUNNING = QUEUED.start(NOW)
ENDINGS = [(status, reason) for status in REASONS for reason in sorted(REASONS[status])]


def ending(status: str, reason: str) -> Ending:
    return Ending(status=RunStatus(status), reason=Reason(reason))  # type: ignore[arg-type]


def test_there_are_six_statuses_and_no_more() -> None:
    assert [str(status) for status in RunStatus] == [
        "queued",
        "running",
        "completed",
        "cancelled",
        "failed",
        "interrupted",
    ]


@pytest.mark.parametrize(("status", "reason"), ENDINGS)
def test_a_running_run_may_end_in_every_way(status: str, reason: str) -> None:
    ended = RUNNING.end(ending(status, reason), LATER)
    assert (ended.status, ended.reason, ended.finished_at, ended.ended) == (
        status,
        reason,
        LATER,
        True,
    )


@pytest.mark.parametrize("status", ["completed", "cancelled", "failed", "interrupted"])
def test_each_ending_refuses_the_reasons_of_the_others(status: str) -> None:
    for reason in Reason:
        if reason in REASONS[status]:
            continue
        with pytest.raises(ValueError, match="cannot be because of"):
            ending(status, reason)


def test_every_reason_belongs_to_exactly_one_ending() -> None:
    assert sorted(reason for _, reason in ENDINGS) == sorted(str(reason) for reason in Reason)


@pytest.mark.parametrize(
    ("status", "reason"), [("completed", "end_turn"), ("cancelled", "withdrawn")]
)
def test_a_queued_run_may_be_taken_by_another_or_cancelled(status: str, reason: str) -> None:
    assert QUEUED.end(ending(status, reason), LATER).status == status


@pytest.mark.parametrize(
    ("status", "reason"), [("failed", "internal"), ("interrupted", "server_crashed")]
)
def test_a_queued_run_can_neither_fail_nor_be_interrupted(status: str, reason: str) -> None:
    with pytest.raises(Conflict):
        QUEUED.end(ending(status, reason), LATER)


def test_a_run_starts_once() -> None:
    assert (RUNNING.status, RUNNING.started_at, RUNNING.ended) == ("running", NOW, False)
    with pytest.raises(Conflict):
        RUNNING.start(LATER)


@pytest.mark.parametrize(("first", "why"), ENDINGS)
def test_an_ended_run_never_moves_again(first: str, why: str) -> None:
    ended = RUNNING.end(ending(first, why), LATER)
    with pytest.raises(Conflict):
        ended.start(LATER)
    for status, reason in ENDINGS:
        with pytest.raises(Conflict):
            ended.end(ending(status, reason), LATER)


def test_an_ending_brings_its_error_and_its_usage() -> None:
    error = RunError(code="provider_error", message="It broke.")
    usage = Usage(input_tokens=3, output_tokens=4, exact=False)
    ended = RUNNING.end(
        Ending(status=RunStatus.FAILED, reason=Reason.PROVIDER_ERROR, error=error, usage=usage),
        LATER,
    )
    assert (ended.error, ended.usage) == (error, usage)


@pytest.mark.parametrize(
    ("status", "reason", "said"),
    [
        ("completed", "end_turn", "end_turn"),
        ("completed", "max_tokens", "max_tokens"),
        ("completed", "step_limit", "step_limit"),
        ("cancelled", "user", "cancelled"),
        ("cancelled", "disconnect", "cancelled"),
        ("failed", "provider_error", "error"),
        ("interrupted", "server_crashed", "interrupted"),
    ],
)
def test_a_message_says_how_its_run_ended(status: str, reason: str, said: str) -> None:
    assert ending(status, reason).finish_reason == said
