"""Ratings, against values worked out by hand.

With two models whose strengths are t and -t, all is known in closed form: the slope is zero where
score = odds(2t) + t/s², s being 350 points; the variance against the average is 1/(2(1/s² + 2w)),
w being odds(1 - odds) for each game. 1/s² is 0.246346, and 1 in strength is 173.7178 points.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.core.comparison import Comparison, Pane, Vote, Winner
from tenuto.core.rating import Game, Standing, games_of, standings
from tenuto.core.run import Mode
from tenuto.core.session import DEFAULT_WORKSPACE
from tenuto.core.value import ComparisonId, Instant, SessionId

AT = Instant("2030-01-01T00:00:00.000Z")
GAMES = st.lists(
    st.builds(
        Game,
        one=st.sampled_from(["a", "b"]),
        other=st.sampled_from(["c", "d"]),
        score=st.sampled_from([0.0, 0.5, 1.0]),
    ),
    max_size=40,
)


def compared(*models: str, winner: Winner, among: tuple[int, ...] | None = None) -> Comparison:
    there = tuple(range(len(models))) if among is None else among
    return Comparison(
        id=ComparisonId("cmp_1"),
        workspace_id=DEFAULT_WORKSPACE,
        mode=Mode.CHAT,
        blind=True,
        created_at=AT,
        panes=tuple(Pane(session_id=SessionId(f"ses_{m}"), model=m) for m in models),
        vote=Vote(winner=winner, among=there, at=AT),
    )


def game(one: str, other: str, score: float = 1.0) -> Game:
    return Game(one=one, other=other, score=score)


def test_a_winner_beats_each_other_pane_and_the_losers_do_not_meet() -> None:
    assert games_of(compared("a", "b", "c", winner=1)) == (game("b", "a"), game("b", "c"))


def test_in_a_tie_all_pairs_draw() -> None:
    assert games_of(compared("a", "b", "c", winner="tie")) == (
        game("a", "b", 0.5),
        game("a", "c", 0.5),
        game("b", "c", 0.5),
    )


def test_no_good_answer_is_no_game() -> None:
    assert games_of(compared("a", "b", winner="none")) == ()


def test_a_pane_that_was_gone_before_the_vote_takes_no_part() -> None:
    assert games_of(compared("a", "b", "c", winner=0, among=(0, 2))) == (game("a", "c"),)


def test_a_model_that_meets_itself_shows_nothing() -> None:
    assert games_of(compared("a", "a", "b", winner=0)) == (game("a", "b"),)


def test_nobody_stands_on_an_empty_board() -> None:
    assert standings(()) == ()


def test_one_win_moves_both_as_far_as_the_formula_says() -> None:
    # t = 0.74552: odds(1.49104) = 0.81634 and 0.74552 × 0.246346 = 0.18366, together 1.
    # w = 0.14993, variance 0.91532, so 1.959964 × 0.95672 × 173.7178 = 325.7 points.
    assert standings([game("a", "b")]) == (
        Standing(
            model="a", games=1, wins=1, ties=0, losses=0, rating=1129.5, interval=(803.8, 1455.3)
        ),
        Standing(
            model="b", games=1, wins=0, ties=0, losses=1, rating=870.5, interval=(544.7, 1196.2)
        ),
    )


@pytest.mark.parametrize(("ties", "margin"), [(1, 278.7), (100, 34.0)])
def test_ties_keep_both_at_the_average_and_make_it_surer(ties: int, margin: float) -> None:
    # w = 0.25 for each tie: 1/(2(0.246346 + 0.5 n)).
    for standing in standings([game("a", "b", 0.5)] * ties):
        assert (standing.games, standing.ties, standing.rating) == (ties, ties, 1000.0)
        assert standing.interval == (1000 - margin, 1000 + margin)


def test_three_who_beat_each_other_in_a_ring_are_equals() -> None:
    # The curvature's other two values are 0.246346 + 0.75, and each has a third of both.
    board = standings([game("a", "b"), game("b", "c"), game("c", "a")])
    assert [(s.model, s.rating, s.interval) for s in board] == [
        ("a", 1000.0, (721.5, 1278.5)),
        ("b", 1000.0, (721.5, 1278.5)),
        ("c", 1000.0, (721.5, 1278.5)),
    ]


def test_a_thousand_wins_make_nobody_infinite() -> None:
    best, worst = standings([game("a", "b")] * 1000)
    assert 1400 < best.rating < 2100
    assert best.rating + worst.rating == 2000.0


def test_who_beats_the_winner_is_above_it() -> None:
    board = standings([game("b", "c")] * 3 + [game("a", "b")] * 3)
    assert [standing.model for standing in board] == ["a", "b", "c"]


@given(GAMES)
def test_every_board_adds_up(games: list[Game]) -> None:
    board = standings(games)
    assert sum(standing.games for standing in board) == 2 * len(games)
    assert sum(standing.wins for standing in board) == sum(s.losses for s in board)
    if board:
        average = sum(standing.rating for standing in board) / len(board)
        assert average == pytest.approx(1000, abs=0.1)
    for standing in board:
        assert standing.games == standing.wins + standing.ties + standing.losses
        assert standing.interval[0] < standing.rating < standing.interval[1]


@given(GAMES)
def test_the_order_of_the_games_does_not_matter(games: list[Game]) -> None:
    assert standings(games) == standings(list(reversed(games)))
