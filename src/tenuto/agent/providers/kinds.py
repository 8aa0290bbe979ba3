"""The kinds of provider: one row says all that is particular to one."""

from collections.abc import Callable, Mapping, Sequence

from tenuto.agent.providers.catalogue.almanac import Seller
from tenuto.agent.providers.catalogue.description import USUAL, Describer
from tenuto.agent.providers.catalogue.facts import Facts
from tenuto.agent.providers.catalogue.setting import ModelSetting
from tenuto.agent.providers.wires.anthropic import AnthropicWire
from tenuto.agent.providers.wires.chat import ChatWire
from tenuto.agent.providers.wires.ollama import OllamaWire
from tenuto.agent.providers.wires.responses import ResponsesWire
from tenuto.agent.providers.wires.wire import Wire
from tenuto.core.provider import ProviderKind
from tenuto.core.value import Value


class KindFacts(Value):
    wire: Callable[[str], Wire]
    """For a base URL: some say a little more to the hosted original than to its likes."""
    brand: str
    """What people call a server of this kind."""
    usual: Facts = USUAL
    """Of a model of which nothing else is known."""
    way: str = ""
    """What its wire is called where a model speaks no other."""
    hint: str = ""
    """What to look at when an address is not one of this kind."""

    def describer(
        self, name: str, settings: Sequence[ModelSetting], seller: Seller | None = None
    ) -> Describer:
        return Describer(name, settings=settings, usual=self.usual, seller=seller, way=self.way)


KINDS: Mapping[ProviderKind, KindFacts] = {
    ProviderKind.OPENAI_RESPONSES: KindFacts(
        wire=ResponsesWire,
        brand="a server that speaks OpenAI's Responses",
        way="responses",
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
        usual=Facts(window=200_000, output=8192, abilities=("tools", "vision")),
    ),
    ProviderKind.OLLAMA: KindFacts(
        wire=OllamaWire,
        brand="an Ollama server",
        hint="Most addresses end in :11434.",
        usual=Facts(window=32_768, abilities=("tools",)),
    ),
}
