"""The phases in which a server can die, and the processes that lead there."""

from dataclasses import dataclass
from enum import StrEnum

from tests.proof.crash.server_process import Order

AT_ONCE = {"TENUTO_LIMITS_FOLD_DELTAS_DAYS": "0"}
"""Fold the deltas of whatever is finished."""


class Phase(StrEnum):
    WORKING = "working"
    """While it serves, from its very first start on."""
    RECOVERING = "recovering"
    """In the process after a crash halfway: while it settles what was left, and later."""
    TIDYING = "tidying"
    """While it folds the deltas of what is finished."""

    def orders(self, last: Order) -> list[Order]:
        """The processes up to the one that matters, and those after it that are not plain."""
        plain = Order()
        match self:
            case Phase.WORKING:
                return [last]
            case Phase.RECOVERING:
                return [plain, last]
            case Phase.TIDYING:
                tidying = replace_env(plain, AT_ONCE)
                return [plain, replace_env(last, AT_ONCE), tidying, tidying]


def replace_env(order: Order, env: dict[str, str]) -> Order:
    return Order(env=env, point=order.point, passing=order.passing, census=order.census)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Target:
    """Where the server is to die."""

    phase: Phase
    point: str
    passing: int

    def __str__(self) -> str:
        return f"--phase {self.phase} --point '{self.point}' --passing {self.passing}"
