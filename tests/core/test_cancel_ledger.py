"""A cancel covers every prompt accepted before it and none after, in whatever order things happen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from tenuto.core.cancel import CancelLedger
from tenuto.core.run import Reason, Run
from tenuto.core.value import PrincipalId, RunId
from tests.core.test_run import QUEUED

NUMBERS = st.integers(min_value=1, max_value=30)
REASONS = st.sampled_from([Reason.USER, Reason.REPLACED, Reason.DISCONNECT, Reason.DELETED])


def run(number: int) -> Run:
    return replace(QUEUED, id=RunId(f"run_{number}"), accept_number=number)


@given(up_to=st.integers(0, 30), number=NUMBERS)
def test_a_cancel_covers_what_was_accepted_up_to_it_and_nothing_after(
    up_to: int, number: int
) -> None:
    ledger = CancelLedger().cover_all(up_to, (), Reason.USER)
    assert (ledger.reason_for(run(number)) is not None) == (number <= up_to)


@given(up_to=st.integers(0, 30), runs=st.lists(NUMBERS, unique=True), reason=REASONS)
def test_the_same_cancel_twice_changes_nothing(up_to: int, runs: list[int], reason: Reason) -> None:
    covered = tuple(run(number) for number in runs)
    once = CancelLedger().cover_all(up_to, covered, reason)
    assert once.cover_all(up_to, covered, reason) == once


@given(st.lists(st.integers(0, 30), min_size=1), NUMBERS)
def test_a_lower_mark_never_takes_a_higher_one_back(marks: list[int], number: int) -> None:
    ledger = CancelLedger()
    for mark in marks:
        ledger = ledger.cover_all(mark, (), Reason.USER)
    assert ledger.mark == max(marks)
    assert (ledger.reason_for(run(number)) is not None) == (number <= max(marks))


@given(st.permutations(range(1, 6)), st.integers(0, 5))
def test_cancels_of_single_runs_may_come_in_any_order(order: list[int], up_to: int) -> None:
    ledger = CancelLedger()
    for number in order[:up_to]:
        ledger = ledger.cover(run(number), Reason.USER)
    for number in range(1, 6):
        assert (ledger.reason_for(run(number)) is not None) == (number in order[:up_to])


@given(first=REASONS, second=REASONS)
def test_the_first_reason_stays(first: Reason, second: Reason) -> None:
    ledger = CancelLedger().cover(run(1), first).cover_all(1, (run(1),), second)
    assert ledger.reason_for(run(1)) is first


def test_cancelling_one_run_covers_no_other() -> None:
    ledger = CancelLedger().cover(run(2), Reason.USER)
    assert ledger.reason_for(run(1)) is None
    assert ledger.reason_for(run(3)) is None


@pytest.mark.guarantee("C4", "C7")
def test_a_cancel_of_an_idle_session_leaves_the_next_prompt_alone() -> None:
    ledger = CancelLedger().cover_all(4, (), Reason.USER)
    assert ledger.reason_for(run(5)) is None


def test_a_run_that_has_ended_is_forgotten_and_the_others_are_not() -> None:
    ledger = CancelLedger().cover(run(1), Reason.USER).cover(run(2), Reason.DISCONNECT)
    assert ledger.forget(run(1)).reasons == {"run_2": Reason.DISCONNECT}


def test_who_cancelled_first_is_known_until_the_run_has_ended() -> None:
    ann, bob = PrincipalId("ann"), PrincipalId("bob")
    ledger = CancelLedger().cover(run(1), Reason.USER, by=ann).cover(run(1), Reason.DELETED, by=bob)
    assert (ledger.reason_for(run(1)), ledger.by_whom(run(1))) == (Reason.USER, "ann")
    assert ledger.by_whom(run(2)) is UNSET
    assert ledger.forget(run(1)) == CancelLedger()
