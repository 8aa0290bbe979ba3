"""A store that refuses what is no trouble of its own: once, a few times, or the same always."""

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Any

from tenuto.core.desk import Change, Decide, Desk
from tenuto.core.event import RunFinished, RunStarted, SessionDeleted

if TYPE_CHECKING:
    from tests.proof.sim.ledger import Ledger

MOST_ENDINGS = 3
"""Past it an ending is written without its answer, and that is no longer what was seen."""


class Odd(Exception):
    """Nothing that anyone has thought of."""


class OddStore:
    """What it refuses is the engine's own: nobody outside asked for it, so nobody hears of it."""

    def __init__(self, dice: Random, ledger: "Ledger") -> None:
        self._ledger = ledger
        self._kind = dice.choice(("appends", "endings", "starts", "usage"))
        self._left = dice.randint(1, MOST_ENDINGS)

    def calm(self) -> None:
        """Only what is about the content stays refused."""
        if self._kind != "usage":
            self._left = 0

    def appends(self) -> None:
        if self._kind == "appends" and self._left > 0:
            self._refuse()

    def picky(self, decide: Decide[Any]) -> Decide[Any]:
        def decided(desk: Desk) -> Change[Any]:
            change = decide(desk)
            if _WHICH[self._kind](change) and self._left > 0:
                self._refuse()
            return change

        return decided

    def _refuse(self) -> None:
        self._ledger.troubles += 1
        if self._kind != "usage":
            self._left -= 1
        raise Odd


def _ends(change: Change[Any]) -> list[RunFinished]:
    if any(isinstance(event, SessionDeleted) for event in change.events):
        return []
    endings = (event for event in change.events if isinstance(event, RunFinished))
    return [event for event in endings if event.run.started_at is not None]


_WHICH: dict[str, Callable[[Change[Any]], object]] = {
    "appends": lambda change: False,
    "endings": _ends,
    "starts": lambda change: any(isinstance(event, RunStarted) for event in change.events),
    "usage": lambda change: any(event.run.usage.input_tokens for event in _ends(change)),
}
