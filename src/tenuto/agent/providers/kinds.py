"""The kinds of provider: one row says all that is particular to one."""

from collections.abc import Callable, Mapping, Sequence

from tenuto.agent.providers.catalogue.description import DEFAULT_WINDOW, Describer
from tenuto.agent.providers.catalogue.setting import ModelSetting
from tenuto.agent.providers.wires.anthropic import AnthropicWire
from tenuto.agent.providers.wires.chat import ChatWire
from tenuto.agent.providers.wires.responses import ResponsesWire
from tenuto.agent.providers.wires.wire import Wire
from tenuto.core.provider import ProviderKind
from tenuto.core.value import Value


class KindFacts(Value):
    wire: Callable[[str], Wire]
    """For a base URL: some say a little more to the hosted original than to its likes."""
    brand: str
    """What people call a server of this kind."""
    window: int = DEFAULT_WINDOW
    """Of a model of which nothing else is known."""
    capabilities: tuple[str, ...] | None = None
    """Of all its models; None: each says or shows it."""
    hint: str = ""
    """What to look at when an address is not one of this kind."""

    def describer(self, name: str, settings: Sequence[ModelSetting]) -> Describer:
        return Describer(
            name, settings=settings, window=self.window, capabilities=self.capabilities
        )


KINDS: Mapping[ProviderKind, KindFacts] = {
    ProviderKind.OPENAI_RESPONSES: KindFacts(
        wire=ResponsesWire,
        brand="a server that speaks OpenAI's Responses",
        hint="Most addresses end in /v1.",
    ),
    ProviderKind.OPENAI: KindFacts(
        wire=ChatWire,
        brand="an OpenAI-compatible server",
        hint="Most addresses end in /v1.",
    ),
    ProviderKind.ANTHROPIC: KindFacts(
        wire=AnthropicWire,
        brand="an Anthropic-compatible server",
        window=200_000,
        capabilities=("tools", "vision"),
    ),
}
