"""What a run used: told where the provider says so, counted where it does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tenuto.core.meter import Meter, Price, estimate_tokens, priced
from tenuto.core.run import Usage

TOLD = Usage(input_tokens=100, output_tokens=20, reasoning_tokens=5)


def test_a_run_that_asked_nothing_used_nothing() -> None:
    assert Meter().total() == Usage(exact=True)


def test_what_the_provider_says_counts() -> None:
    meter = Meter()
    meter.request(4000)
    meter.output(["many words that are counted otherwise"])
    meter.report(TOLD)
    meter.close()
    assert meter.total() == TOLD


def test_the_last_report_of_a_request_counts() -> None:
    meter = Meter()
    meter.request(10)
    meter.report(Usage(input_tokens=100))
    meter.report(TOLD)
    assert meter.total() == TOLD


def test_what_nobody_reported_is_counted_and_said_to_be() -> None:
    meter = Meter()
    meter.request(400)
    meter.reasoning(["x" * 40])
    meter.output(["y" * 80])
    assert meter.total() == Usage(
        input_tokens=100, output_tokens=30, reasoning_tokens=10, exact=False
    )


def test_each_piece_counts_for_at_least_a_token() -> None:
    meter = Meter()
    meter.request(0)
    for _ in range(50):
        meter.output(["a"])
    assert meter.total().output_tokens == 50


def test_a_request_costs_something_even_if_it_never_answers() -> None:
    meter = Meter()
    meter.request(400)
    assert meter.total() == Usage(input_tokens=100, exact=False)


def test_a_request_that_was_refused_costs_nothing() -> None:
    meter = Meter()
    meter.request(400)
    meter.refused()
    meter.request(40)
    meter.report(TOLD)
    meter.close()
    assert meter.total() == TOLD


def test_requests_add_up_and_one_guess_makes_the_sum_a_guess() -> None:
    meter = Meter()
    meter.request(4)
    meter.report(TOLD)
    meter.request(400)
    meter.output(["abcd"])
    meter.close()
    assert meter.total() == Usage(
        input_tokens=200, output_tokens=21, reasoning_tokens=5, exact=False
    )


def test_closing_twice_counts_once() -> None:
    meter = Meter()
    meter.request(400)
    meter.close()
    meter.close()
    assert meter.total().input_tokens == 100


@given(st.integers(0, 10**9))
def test_an_estimate_is_never_less_than_a_quarter_of_the_characters(characters: int) -> None:
    assert 4 * estimate_tokens(characters) >= characters
    assert estimate_tokens(characters) * 4 < characters + 4


def test_a_price_is_per_million_tokens() -> None:
    usage = Usage(input_tokens=1_000_000, output_tokens=500_000)
    assert priced(usage, Price(input=2.5, output=10)).cost_usd == 7.5


def test_what_the_provider_keeps_has_its_own_prices() -> None:
    usage = Usage(input_tokens=1_000_000, cache_read_tokens=500_000, cache_write_tokens=200_000)
    price = Price(input=2.0, output=10, cache_read=0.2, cache_write=2.5)
    # 300,000 at 2, 500,000 at 0.2, 200,000 at 2.5.
    assert priced(usage, price).cost_usd == 1.2
    # Without them it is priced as any other input: the cost is never too low.
    assert priced(usage, Price(input=2.0, output=10)).cost_usd == 2.0
    # Nobody can have kept more than was asked.
    most = Usage(input_tokens=1_000_000, cache_read_tokens=9_000_000, cache_write_tokens=9)
    assert priced(most, price).cost_usd == 0.2


def test_what_was_kept_adds_up_over_the_requests_that_said_so() -> None:
    meter = Meter()
    meter.request(4)
    meter.report(replace(TOLD, cache_read_tokens=60))
    meter.request(4)
    meter.report(replace(TOLD, cache_read_tokens=10))
    meter.report(replace(TOLD, cache_read_tokens=30, cache_write_tokens=7))
    assert meter.total().cache_read_tokens == 90
    assert meter.total().cache_write_tokens == 7
    meter.request(4)
    meter.report(replace(TOLD, cache_read_tokens=5))
    meter.refused()
    assert meter.total().cache_read_tokens == 90


@pytest.mark.guarantee("E1")
def test_no_sum_outgrows_what_everyone_can_hold() -> None:
    much = Usage(
        input_tokens=2**53,
        output_tokens=2**53,
        reasoning_tokens=2**53,
        cache_read_tokens=2**53,
        cache_write_tokens=2**53,
    )
    meter = Meter()
    for _ in range(3):
        meter.request(4)
        meter.report(much)
    assert meter.total() + much == much


@pytest.mark.parametrize("price", [1e300, float("inf"), float("nan")])
def test_a_cost_is_always_a_number_that_can_be_added_up(price: float) -> None:
    usage = priced(Usage(input_tokens=2**53), Price(input=price, output=price))
    assert usage.cost_usd == 1e12


def test_costs_add_up_where_they_are_known() -> None:
    assert (Usage() + Usage()).cost_usd is None
    assert (Usage(cost_usd=1.5) + Usage()).cost_usd == 1.5
    assert (Usage(cost_usd=1.5) + Usage(cost_usd=2)).cost_usd == 3.5
