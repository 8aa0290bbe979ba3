"""What a server's list says of one model, whichever of the usual words it says it with."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from tenuto.agent.providers.connection.foreign import NAME_CHARACTERS, at, is_sound, tokens
from tenuto.core.meter import Price
from tenuto.core.options import Effort
from tenuto.core.value import Value

CAUTIOUS_WINDOW = 8192
"""Of a local model whose server says what it was made for, but not what it gives it."""
MOST_DOLLARS = 10_000.0

_WINDOWS = (
    "loaded_context_length",
    "context_length",
    "max_model_len",
    "context_window",
    "max_input_tokens",
)
_MADE_FOR = ("max_context_length",)
_OUTPUTS = ("max_completion_tokens", "max_output_tokens", "max_tokens")
_TALKING = frozenset({"chat", "language", "llm", "vlm", "model", "text"})
"""Kinds of models, where a list says one."""
_WORDS: Mapping[str, str] = {
    "tools": "tools",
    "tool_use": "tools",
    "tool-use": "tools",
    "function_calling": "tools",
    "supports_tools": "tools",
    "image": "vision",
    "vision": "vision",
    "vlm": "vision",
    "image_input": "vision",
    "supports_image_input": "vision",
    "file": "documents",
    "pdf_input": "documents",
    "file-input": "documents",
    "reasoning": "reasoning",
    "include_reasoning": "reasoning",
    "thinking": "reasoning",
}
_SWITCHES = ("supports_tools", "supports_image_input")


class Said(Value):
    """None and what is not in `can` was not said."""

    name: str
    window: int | None = None
    output: int | None = None
    can: dict[str, bool] = msgspec.field(default_factory=dict)
    efforts: tuple[Effort, ...] = ()
    price: Price | None = None
    chats: bool = True


def said_of(entry: Any) -> Said | None:
    """None if this is no model with a name that can be used."""
    name = (entry.get("id") or entry.get("name")) if isinstance(entry, dict) else None
    if not isinstance(name, str) or not is_sound(name, limit=NAME_CHARACTERS):
        return None
    return Said(
        name=name,
        window=_window(entry),
        output=_first(entry, _OUTPUTS) or tokens(at(entry, "top_provider", _OUTPUTS[0])) or None,
        can=_can(entry),
        efforts=tuple(_efforts(at(entry, "capabilities", "effort"))),
        price=_price(entry.get("pricing")),
        chats=_chats(entry),
    )


def _window(entry: Mapping[str, Any]) -> int | None:
    if said := _first(entry, _WINDOWS) or tokens(at(entry, "meta", "n_ctx")):
        return said
    if "capabilities" in entry and isinstance(entry["capabilities"], dict):
        # Mistral's own word for what is a mere wish elsewhere.
        return _first(entry, _MADE_FOR)
    made_for = _first(entry, _MADE_FOR) or tokens(at(entry, "meta", "n_ctx_train"))
    return min(made_for, CAUTIOUS_WINDOW) if made_for else None


def _first(entry: Mapping[str, Any], fields: tuple[str, ...]) -> int | None:
    return next((n for field in fields if (n := tokens(entry.get(field)))), None)


def _can(entry: Mapping[str, Any]) -> dict[str, bool]:
    said = dict(_abilities(entry.get("capabilities")))
    said |= {_WORDS[word]: entry[word] is True for word in _SWITCHES if word in entry}
    said |= {_WORDS[word]: True for word in _texts(entry.get("tags")) if word in _WORDS}
    parameters = entry.get("supported_parameters")
    if isinstance(parameters, list):
        words = {_WORDS.get(word) for word in _texts(parameters)}
        said |= {ability: ability in words for ability in ("tools", "reasoning")}
    modalities = at(entry, "architecture", "input_modalities")
    if isinstance(modalities, list):
        words = {_WORDS.get(word) for word in _texts(modalities)}
        said |= {ability: ability in words for ability in ("vision", "documents")}
    if entry.get("type") == "vlm":
        said["vision"] = True
    return said


def _abilities(given: Any) -> Iterator[tuple[str, bool]]:
    """From a list of what it can, or an object of what it can and cannot."""
    if isinstance(given, dict):
        for word, able in given.items():
            if word in _WORDS:
                yield _WORDS[word], able is True or at(able, "supported") is True
    for word in _texts(given):
        if word in _WORDS:
            yield _WORDS[word], True


def _efforts(given: Any) -> Iterator[Effort]:
    """As Anthropic lists them."""
    for effort in Effort:
        if at(given, str(effort), "supported") is True:
            yield effort


def _price(given: Any) -> Price | None:
    """Texts are dollars for one token, numbers for a million of them."""
    asked, said = _dollars(given, "prompt", "input"), _dollars(given, "completion", "output")
    if asked is None or said is None:
        return None
    return Price(
        input=asked,
        output=said,
        cache_read=_dollars(given, "input_cache_read", "cached_input"),
        cache_write=_dollars(given, "input_cache_write"),
    )


def _dollars(given: Any, *fields: str) -> float | None:
    for field in fields:
        said = at(given, field)
        if isinstance(said, bool) or not isinstance(said, int | float | str):
            continue
        try:
            number = float(said) * (1_000_000 if isinstance(said, str) else 1)
        except (ValueError, OverflowError):
            continue
        if math.isfinite(number) and 0 <= number <= MOST_DOLLARS:
            return round(number, 6)
    return None


def _chats(entry: Mapping[str, Any]) -> bool:
    if at(entry, "capabilities", "completion_chat") is False or entry.get("supports_chat") is False:
        return False
    words = entry.get("capabilities")
    if isinstance(words, list) and "embedding" in words and "completion" not in words:
        return False
    kind = entry.get("type")
    return not isinstance(kind, str) or kind in _TALKING


def _texts(given: Any) -> Iterator[str]:
    return (
        (word for word in given if isinstance(word, str)) if isinstance(given, list) else iter(())
    )
