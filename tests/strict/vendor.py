"""The vendors: each model that is asked in these tests, with what it refuses and how it answers."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from tenuto.core.provider import ProviderKind
from tests.strict import facts
from tests.strict.answers import anthropic, chat, ollama, responses
from tests.strict.answers.speech import Speech
from tests.strict.facts import Facts, Flavour
from tests.strict.intent import Intent
from tests.strict.refusal import Body, Judge
from tests.strict.rules.anthropic import anthropic as anthropic_rules
from tests.strict.rules.flavours import FLAVOURS
from tests.strict.rules.ollama import ollama as ollama_rules
from tests.strict.rules.responses import responses as responses_rules


class Answering(Protocol):
    def __call__(self, intent: Intent, body: Body, facts: Facts, cached: int = 0, /) -> Speech:
        """What is said, in frames; so many tokens of the input were cached."""


@dataclass(frozen=True)
class Vendor:
    """One provider with one model."""

    name: str
    kind: ProviderKind
    base_url: str
    """Of the true one: some wires say a little more to a host that they know."""
    facts: Facts
    judge: Judge
    answer: Answering
    failure: Callable[[], dict[str, Any]]
    flavour: Flavour | None = None


def _chat(flavour: Flavour, base_url: str, known: Facts) -> Vendor:
    return Vendor(
        name=f"chat-{flavour}",
        kind=ProviderKind.OPENAI,
        base_url=base_url,
        facts=known,
        judge=FLAVOURS[flavour],
        answer=partial(chat.chat, flavour),
        failure=chat.failure,
        flavour=flavour,
    )


def _anthropic(name: str, known: Facts) -> Vendor:
    return Vendor(
        name=name,
        kind=ProviderKind.ANTHROPIC,
        base_url="https://api.anthropic.com/v1",
        facts=known,
        judge=anthropic_rules,
        answer=anthropic.anthropic,
        failure=anthropic.failure,
    )


def _responses(name: str, known: Facts) -> Vendor:
    return Vendor(
        name=name,
        kind=ProviderKind.OPENAI_RESPONSES,
        base_url="https://api.openai.com/v1",
        facts=known,
        judge=responses_rules,
        answer=responses.responses,
        failure=responses.failure,
    )


_OLLAMA = Vendor(
    name="ollama",
    kind=ProviderKind.OLLAMA,
    base_url="http://127.0.0.1:11434",
    facts=facts.QWEN,
    judge=ollama_rules,
    answer=ollama.ollama,
    failure=ollama.failure,
)
VENDORS: tuple[Vendor, ...] = (
    _responses("responses", facts.GPT),
    _responses("responses-plain", facts.GPT_PLAIN),
    _anthropic("anthropic", facts.OPUS),
    _anthropic("anthropic-older", facts.SONNET),
    _chat("openai", "https://api.openai.com/v1", facts.GPT),
    _chat("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", facts.GEMINI),
    _chat("deepseek", "https://api.deepseek.com", facts.DEEPSEEK),
    _chat("kimi", "https://api.moonshot.ai/v1", facts.KIMI),
    _chat("mistral", "https://api.mistral.ai/v1", facts.MISTRAL),
    _chat("openrouter", "https://openrouter.ai/api/v1", facts.OPENROUTER),
    _chat("local", "http://127.0.0.1:8080/v1", facts.LOCAL),
    _OLLAMA,
)
