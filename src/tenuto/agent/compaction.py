"""Compaction: a summary takes the place of old messages, for the model only."""

from collections.abc import Sequence

from tenuto.agent import prompts
from tenuto.agent.allowance import Allowance
from tenuto.agent.answer import Listener
from tenuto.agent.asking import ask
from tenuto.agent.context import build_turns
from tenuto.agent.flat import without_calls
from tenuto.core.message import Message
from tenuto.core.meter import CHARACTERS_PER_TOKEN, Meter
from tenuto.core.run import Reason
from tenuto.ports.model import Model, ModelRequest, Provider, ProviderError
from tenuto.ports.points import NOWHERE, Points
from tenuto.ports.query import Background

FULL = 0.8
"""How much of the window may be used before old messages are summarised."""


def window_characters(model: Model) -> int:
    """How much may be said to the model, leaving room for its answer."""
    return int(model.context_window * CHARACTERS_PER_TOKEN * FULL)


def old_messages(background: Background) -> tuple[Message, ...]:
    """All before the last user message: what a run under way can do without."""
    messages = background.messages
    users = [n for n, message in enumerate(messages) if message.role == "user"]
    return messages[: users[-1]] if users else ()


async def summarise(
    provider: Provider,
    model: Model,
    *,
    summary: str | None,
    messages: Sequence[Message],
    meter: Meter,
    allowance: Allowance,
    points: Points = NOWHERE,
) -> str:
    """These messages, and the summary of those before them, in short."""
    request = ModelRequest(
        model=model.id.removeprefix(f"{model.provider}/"),
        system=prompts.with_summary(prompts.CHAT, summary),
        turns=without_calls(build_turns(messages, {}, ask=prompts.SUMMARY)),
    )
    listener = Listener(meter, allowance)
    await ask(provider, request, meter=meter, taker=listener, points=points)
    if not listener.text():
        raise ProviderError(Reason.NO_RESPONSE, "The model gave no summary.")
    return listener.text()
