"""How long a provider is waited for: as long as it asks for, within what was set."""

from itertools import pairwise

import pytest

from tenuto.agent.retries import Retries
from tenuto.core.run import Reason
from tenuto.ports.model import ProviderError, Trouble
from tests.support.held_clock import HeldClock


def busy(seconds: float | None) -> ProviderError:
    return ProviderError(
        Reason.PROVIDER_ERROR, "too many requests", retry_after=seconds, trouble=Trouble.BUSY
    )


@pytest.mark.parametrize("asked", [0.0, 1.0, 40.0, 299.0, 300.0])
def test_what_a_provider_asks_for_is_waited_whole(asked: float) -> None:
    assert Retries(HeldClock()).seconds(busy(asked), 1) >= asked


def test_what_is_longer_than_was_set_fails_at_once_and_says_until_when() -> None:
    retries = Retries(HeldClock(), seconds=60.0)
    assert retries.seconds(busy(60.0), 1) >= 60.0
    with pytest.raises(ProviderError, match=r"no earlier than \d{4}-\d\d-\d\dT.*wait no longer"):
        retries.seconds(busy(61.0), 1)


def test_without_a_word_the_waits_grow_and_end() -> None:
    retries = Retries(HeldClock())
    waits = [retries.seconds(busy(0.0), attempt) for attempt in range(1, 6)]
    assert all(later > earlier for earlier, later in pairwise(waits))
    with pytest.raises(ProviderError):
        retries.seconds(busy(0.0), 6)


def test_what_will_never_be_well_is_not_asked_again() -> None:
    with pytest.raises(ProviderError):
        Retries(HeldClock()).seconds(busy(None), 1)
