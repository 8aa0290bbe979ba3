"""Asking with retries: again only while nothing of the answer was shown."""

import pytest

from tenuto.agent import retries
from tenuto.agent.allowance import Allowance
from tenuto.agent.answer import Listener
from tenuto.agent.asking import ask
from tenuto.clock import SystemClock
from tenuto.core.meter import Meter
from tenuto.core.run import Usage
from tenuto.ports.model import ModelRequest, ProviderError, TextBlock, TextPiece, UserTurn
from tests.agent.scripted import BROKEN, BUSY, Scripted, said

pytestmark = pytest.mark.anyio
REQUEST = ModelRequest(model="one", system="", turns=(UserTurn(blocks=(TextBlock(text="Hi"),)),))


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "FIRST_WAIT_SECONDS", 0.0)


async def heard(provider: Scripted, *, meter: Meter | None = None) -> str:
    listener = Listener(meter or Meter(), Allowance())
    await ask(
        provider,
        REQUEST,
        meter=meter or Meter(),
        taker=listener,
        retries=retries.Retries(SystemClock()),
        shown=lambda: bool(listener.text()),
    )
    return listener.text()


async def test_a_busy_provider_is_asked_again() -> None:
    provider = Scripted([BUSY], [BUSY], said("Hello."))
    assert await heard(provider) == "Hello."
    assert provider.requests == [REQUEST] * 3


@pytest.mark.failure(22)
async def test_nothing_is_asked_again_once_something_was_shown() -> None:
    provider = Scripted([TextPiece(text="Hel"), BUSY], said("Hello."))
    with pytest.raises(ProviderError, match="busy"):
        await heard(provider)
    assert len(provider.requests) == 1


async def test_an_error_that_will_not_go_away_is_not_tried_again() -> None:
    provider = Scripted([BROKEN], said("Hello."))
    with pytest.raises(ProviderError, match="broken"):
        await heard(provider)
    assert len(provider.requests) == 1


async def test_hope_ends_after_some_tries() -> None:
    provider = Scripted(*[[BUSY]] * 9)
    with pytest.raises(ProviderError, match="busy"):
        await heard(provider)
    assert len(provider.requests) == 5


async def test_every_connection_is_closed_whatever_happens() -> None:
    provider = Scripted([BUSY], [TextPiece(text="Hel"), BROKEN])
    with pytest.raises(ProviderError):
        await heard(provider)
    assert provider.closed == 2


async def test_a_request_that_was_refused_is_not_paid_for() -> None:
    meter = Meter()
    await heard(Scripted([BUSY], said("Hello, you.")), meter=meter)
    # Two characters of prompt, eleven of answer: once, not twice.
    assert meter.total() == Usage(input_tokens=1, output_tokens=3, exact=False)


async def test_a_taker_that_breaks_closes_the_connection_too() -> None:
    class Breaks:
        def take(self, pieces: object) -> None:
            raise RuntimeError("no room")

    provider = Scripted(said("Hello."))
    with pytest.raises(RuntimeError, match="no room"):
        calm = retries.Retries(SystemClock())
        await ask(provider, REQUEST, meter=Meter(), taker=Breaks(), retries=calm)
    assert provider.closed == 1
