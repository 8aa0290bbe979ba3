"""Tokens are counted as providers count them, once one has."""

from tenuto.agent.ruler import Ruler, Rulers
from tenuto.core.value import SessionId

HERE, THERE = SessionId("ses_here"), SessionId("ses_there")


def test_before_anyone_has_counted_four_bytes_are_a_token() -> None:
    assert Rulers().of(HERE, "m").bytes(100) == 400


def test_what_a_provider_counted_is_the_measure_of_that_session_and_model() -> None:
    rulers = Rulers()
    rulers.learn(HERE, "m", size=20_000, tokens=10_000)
    assert rulers.of(HERE, "m").bytes(100) == 200
    assert rulers.of(HERE, "other") == Ruler()
    assert rulers.of(THERE, "m") == Ruler()


def test_a_few_tokens_say_nothing() -> None:
    rulers = Rulers()
    rulers.learn(HERE, "m", size=400, tokens=499)
    assert rulers.of(HERE, "m") == Ruler()


def test_what_cannot_be_is_kept_within_bounds() -> None:
    rulers = Rulers()
    rulers.learn(HERE, "m", size=1, tokens=1_000_000)
    assert rulers.of(HERE, "m").bytes_per_token == 1.5
    rulers.learn(HERE, "m", size=1_000_000, tokens=500)
    assert rulers.of(HERE, "m").bytes_per_token == 6.0


def test_small_differences_change_nothing() -> None:
    """Else each answer would trim something else, and no provider could keep a prefix."""
    rulers = Rulers()
    rulers.learn(HERE, "m", size=31_000, tokens=10_000)
    first = rulers.of(HERE, "m")
    rulers.learn(HERE, "m", size=34_900, tokens=10_000)
    assert rulers.of(HERE, "m") == first
