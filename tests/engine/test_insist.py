"""A run asks the store again while it is away, and never again what may have been stored."""

from typing import Any

import pytest

from tenuto.clock import SystemClock
from tenuto.core.error import InDoubt, StorageTrouble
from tenuto.engine.insist import insist
from tests.engine.harness import SkippingClock

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenuto.engine.insist.RETRY_SECONDS", 0.001)


class OneAfterTheOther:
    """Raises or returns one after the other."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)

    async def __call__(self) -> Any:
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


async def test_what_is_asked_while_the_store_is_away_is_answered_when_it_is_back() -> None:
    store = OneAfterTheOther(StorageTrouble("it restarts"), StorageTrouble("it starts"), "here")
    assert await insist(store, clock=SystemClock()) == "here"


async def test_what_may_have_been_stored_is_not_asked_again() -> None:
    with pytest.raises(InDoubt):
        await insist(OneAfterTheOther(InDoubt("lost"), "twice"), clock=SystemClock())


async def test_a_store_that_stays_away_is_given_up() -> None:
    clock = SkippingClock()

    async def away() -> None:
        clock.ahead += 10.0
        raise StorageTrouble("it is away")

    with pytest.raises(StorageTrouble, match="away"):
        await insist(away, clock=clock)
