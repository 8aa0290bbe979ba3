"""Ratings: how good models are against each other, and how sure that is.

A Bradley–Terry model: the odds that one beats another are the ratio of their strengths, and a tie
is half a win for both. Strengths are on the scale of chess ratings, where 400 points are odds of
ten to one, around an average of 1000. Every model is expected near the average until its games
say otherwise; so one win does not make anybody invincible, and few games give wide intervals.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations

from tenuto.core.comparison import Comparison
from tenuto.core.value import Value

AVERAGE = 1000.0
POINTS = 400 / math.log(10)
"""For a factor of e in the odds."""
EXPECTED_SPREAD = 350 / POINTS
"""One standard deviation of strengths before anything is known of them."""
SURE = 1.959964
"""Standard deviations on either side that hold 95 of 100."""
STEPS = 100
CLOSE_ENOUGH = 1e-10

Matrix = list[list[float]]


class Game(Value):
    """Two models and what the first one got: 1 for a win, ½ for a tie, 0 for a loss."""

    one: str
    other: str
    score: float


class Standing(Value):
    model: str
    games: int
    wins: int
    ties: int
    losses: int
    rating: float
    interval: tuple[float, float]
    """The rating is between these, as 95 of 100 such claims are."""


def games_of(comparison: Comparison) -> tuple[Game, ...]:
    """A winner beats each other pane; in a tie all draw; no good answer is no game."""
    vote = comparison.vote
    if vote is None or vote.winner == "none":
        return ()
    models = {index: comparison.panes[index].model for index in vote.among}
    if vote.winner == "tie":
        pairs = [Game(one=a, other=b, score=0.5) for a, b in combinations(models.values(), 2)]
    else:
        best = models.pop(vote.winner)
        pairs = [Game(one=best, other=model, score=1.0) for model in models.values()]
    # A model that met itself has shown nothing.
    return tuple(game for game in pairs if game.one != game.other)


def standings(games: Sequence[Game]) -> tuple[Standing, ...]:
    """Every model that played, the best first."""
    models = sorted({model for game in games for model in (game.one, game.other)})
    scores = Counter(pair for game in games for pair in _both_sides(game))
    tally = Counter(games)
    strengths = _strengths(models, tally)
    spreads = _spreads(_curvature(models, tally, strengths))
    found = [
        _standing(model, scores, strength, spread)
        for model, strength, spread in zip(models, strengths, spreads, strict=True)
    ]
    return tuple(sorted(found, key=lambda standing: (-standing.rating, standing.model)))


def _both_sides(game: Game) -> Iterable[tuple[str, float]]:
    return ((game.one, game.score), (game.other, 1.0 - game.score))


def _standing(
    model: str, scores: Counter[tuple[str, float]], strength: float, spread: float
) -> Standing:
    wins, ties, losses = (scores[model, score] for score in (1.0, 0.5, 0.0))
    rating, margin = AVERAGE + POINTS * strength, POINTS * spread * SURE
    return Standing(
        model=model,
        games=wins + ties + losses,
        wins=wins,
        ties=ties,
        losses=losses,
        rating=round(rating, 1),
        interval=(round(rating - margin, 1), round(rating + margin, 1)),
    )


def _strengths(models: Sequence[str], games: Counter[Game]) -> list[float]:
    """The likeliest strengths, by Newton's method; the problem has one answer, and it finds it."""
    strengths = [0.0] * len(models)
    for _ in range(STEPS):
        slope = _slope(models, games, strengths)
        inverse = _inverse(_curvature(models, games, strengths))
        moves = [sum(i * s for i, s in zip(row, slope, strict=True)) for row in inverse]
        strengths = [strength + move for strength, move in zip(strengths, moves, strict=True)]
        if all(abs(move) < CLOSE_ENOUGH for move in moves):
            break
    return strengths


def _slope(models: Sequence[str], games: Counter[Game], strengths: Sequence[float]) -> list[float]:
    place = {model: n for n, model in enumerate(models)}
    slope = [-strength / EXPECTED_SPREAD**2 for strength in strengths]
    for game, times in games.items():
        a, b = place[game.one], place[game.other]
        surprise = times * (game.score - _odds(strengths[a] - strengths[b]))
        slope[a] += surprise
        slope[b] -= surprise
    return slope


def _curvature(models: Sequence[str], games: Counter[Game], strengths: Sequence[float]) -> Matrix:
    """How sharply the likelihood falls away from these strengths."""
    place = {model: n for n, model in enumerate(models)}
    curvature = [[0.0] * len(models) for _ in models]
    for n in range(len(models)):
        curvature[n][n] = 1 / EXPECTED_SPREAD**2
    for game, times in games.items():
        a, b = place[game.one], place[game.other]
        odds = _odds(strengths[a] - strengths[b])
        weight = times * odds * (1 - odds)
        curvature[a][a] += weight
        curvature[b][b] += weight
        curvature[a][b] -= weight
        curvature[b][a] -= weight
    return curvature


def _spreads(curvature: Matrix) -> list[float]:
    """The standard deviation of each strength against the average of all."""
    if not curvature:
        return []
    # What all have in common is not known from games, and is no part of a rating.
    common = EXPECTED_SPREAD**2 / len(curvature)
    inverse = _inverse(curvature)
    return [math.sqrt(max(0.0, inverse[n][n] - common)) for n in range(len(inverse))]


def _odds(difference: float) -> float:
    return 1 / (1 + math.exp(-difference))


def _inverse(matrix: Matrix) -> Matrix:
    """By elimination; the matrix is positive definite, so no row needs another's place."""
    size = len(matrix)
    rows = [[*row, *(float(n == m) for m in range(size))] for n, row in enumerate(matrix)]
    for n in range(size):
        pivot = rows[n][n]
        rows[n] = [value / pivot for value in rows[n]]
        for m in range(size):
            factor = rows[m][n]
            if m != n and factor:
                rows[m] = [a - factor * b for a, b in zip(rows[m], rows[n], strict=True)]
    return [row[size:] for row in rows]
