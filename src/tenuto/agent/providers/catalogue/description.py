"""What a model can do, from what is set, what its server says, and what its name gives away."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tenuto.agent.providers.catalogue.setting import ModelSetting
from tenuto.agent.providers.connection.foreign import NAME_CHARACTERS, at, is_sound, tokens
from tenuto.ports.model import Model

DEFAULT_WINDOW = 128_000
MOST_MODELS = 2000
"""Of one provider; the largest list known has some hundreds. What is beyond it can be set by hand."""

_WINDOW_FIELDS = (
    "context_length",
    "max_model_len",
    "context_window",
    "max_context_length",
    "max_input_tokens",
)
_NO_CHAT = re.compile(
    r"embed|whisper|^tts-|-tts\b|dall-e|moderation|transcribe|realtime|gpt-image|sora|rerank"
    r"|babbage|davinci"
)
_SEES = re.compile(
    r"gpt-4o|gpt-4\.1|gpt-4-turbo|gpt-5|^o[1345]\b|claude|gemini|pixtral|llava|vision|[-_]vl\b"
    r"|gemma-?3|llama-?4|moondream|minicpm-v"
)


class Describer:
    """Makes the models of one provider from its listing."""

    def __init__(
        self,
        provider: str,
        *,
        settings: Sequence[ModelSetting] = (),
        window: int = DEFAULT_WINDOW,
        capabilities: tuple[str, ...] | None = None,
    ) -> None:
        self._provider = provider
        self._settings = {setting.name: setting for setting in settings}
        self._window = window
        self._capabilities = capabilities

    def listed(self, answer: Any) -> list[Model]:
        """The models of a listing that can chat, then those that are only set."""
        said = answer.get("data") if isinstance(answer, dict) else answer
        entries = [e for e in said if isinstance(e, dict)] if isinstance(said, list) else []
        named = {e["id"]: e for e in entries if _is_a_name(e.get("id"))}
        names = [n for n in named if n in self._settings or not _NO_CHAT.search(n.lower())]
        del names[MOST_MODELS:]
        names += [name for name in self._settings if name not in named]
        return [self.model(name, named.get(name, {})) for name in names]

    def set_by_hand(self) -> list[Model]:
        return [self.model(name) for name in self._settings]

    def model(self, name: str, entry: Mapping[str, Any] | None = None) -> Model:
        """This model, as well as it is known; the entry is the server's own description."""
        entry = entry or {}
        setting = self._settings.get(name) or ModelSetting(name=name)
        capabilities = setting.capabilities
        if capabilities is None:
            capabilities = self._capabilities
        if capabilities is None:
            capabilities = _capabilities(name, entry)
        return Model(
            id=f"{self._provider}/{name}",
            name=name,
            provider=self._provider,
            context_window=setting.context_window or _window(entry) or self._window,
            capabilities=capabilities,
            price=setting.price,
        )


def _window(entry: Mapping[str, Any]) -> int | None:
    """None if the server does not say."""
    said = [entry.get(field) for field in _WINDOW_FIELDS]
    said += [at(entry, "meta", "n_ctx"), at(entry, "meta", "n_ctx_train")]
    return next((n for n in map(tokens, said) if n), None)


def _capabilities(name: str, entry: Mapping[str, Any]) -> tuple[str, ...]:
    says = _words(entry)
    found = []
    if says.isdisjoint({"supported_parameters"}) or says & {"tools", "tool_use"}:
        found.append("tools")
    if says & {"image", "vision", "vlm"} or _SEES.search(name.lower()):
        found.append("vision")
    if says & {"reasoning", "include_reasoning", "thinking"}:
        found.append("reasoning")
    return tuple(found)


def _words(entry: Mapping[str, Any]) -> frozenset[str]:
    """Every word that servers use to say what a model can do."""
    words: set[str] = set()
    parameters = entry.get("supported_parameters")
    if isinstance(parameters, list):
        words.update(["supported_parameters", *_texts(parameters)])
    said = entry.get("capabilities")
    if isinstance(said, dict):
        said = [word for word, able in said.items() if able]
    modalities = at(entry, "architecture", "input_modalities")
    return frozenset({*words, *_texts(said), *_texts(modalities), *_texts([entry.get("type")])})


def _texts(given: Any) -> Iterator[str]:
    return (
        (word for word in given if isinstance(word, str)) if isinstance(given, list) else iter(())
    )


def _is_a_name(given: Any) -> bool:
    return isinstance(given, str) and is_sound(given, limit=NAME_CHARACTERS)
