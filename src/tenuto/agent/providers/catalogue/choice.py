"""Which model to begin with when nobody has said, and which for what is not worth a dear one."""

import re
from collections.abc import Sequence

from tenuto.ports.model import Model

_BALANCED = re.compile(r"(?:.*/)?claude-(?:.*-)?sonnet\b.*")
_NUMBERED = re.compile(r"(?:.*/)?gpt-(\d+(?:\.\d+)?)")
_VERSION = re.compile(r"(?<![\d.])v?(\d{1,2})(?:[.-](\d{1,2}))?(?![\d.]|b\b|k\b)")
_SPECIAL = re.compile(
    r"(?<![a-z])(?:preview|beta|exp|labs|mini|nano|lite|tiny|small|flash|haiku|vision|vl|code|codex"
    r"|coder|codestral|devstral|ministral|magistral|voxtral|leanstral|chat|cyber|fast|turbo|guard"
    r"|search|agent|math|distill|customtools|build|free)(?![a-z])"
)
"""Words in the names of models that are for something in particular, or meant to be cheap."""

FAIR_DOLLARS = (0.25, 5.0)
"""For a million tokens of input: neither a toy nor a luxury."""
ROOMY_WINDOW = 100_000
"""A summary is of much."""
OUTPUT_SHARE = 4
"""Tokens that are read for each that is written, where prices are compared."""


def first_choice(models: Sequence[Model]) -> Model | None:
    """A model of the first provider: its newest for everything at a fair price, else its first.

    Providers list their models in any order, and the first may be old, tiny or dear.
    """
    own = [model for model in models if model.provider == models[0].provider]
    able = [model for model in own if "tools" in model.capabilities] or own
    for found in (_named(able, _BALANCED), _fair(able)):
        if found:
            return max(found, key=lambda model: (_version(model.name), _input_price(model)))
    numbered = [(float(m[1]), model) for model in able if (m := _NUMBERED.fullmatch(model.name))]
    if numbered:
        return max(numbered, key=lambda pair: pair[0])[1]
    return able[0] if able else None


def cheapest(models: Sequence[Model], model: Model) -> Model:
    """Of the same provider, for a known price that is lower; else this one."""
    if model.price is None:
        return model
    room = min(ROOMY_WINDOW, model.context_window)
    others = [
        other
        for other in models
        if other.provider == model.provider
        and other.context_window >= room
        and "tools" in other.capabilities
        # What costs nothing is given away in small numbers only.
        and 0 < _cost(other) < _cost(model)
    ]
    return min(others, key=_cost, default=model)


def _named(models: Sequence[Model], pattern: re.Pattern[str]) -> list[Model]:
    return [model for model in models if pattern.fullmatch(model.name)]


def _fair(models: Sequence[Model]) -> list[Model]:
    least, most = FAIR_DOLLARS
    fair = [
        model
        for model in models
        if least <= _input_price(model) <= most and not _SPECIAL.search(model.name.lower())
    ]
    # Some sell others' models beside their own, whose versions say nothing of each other.
    return [model for model in fair if model.provider in model.name] or fair


def _version(name: str) -> tuple[int, int]:
    found = _VERSION.search(name.lower().rpartition("/")[2])
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)


def _input_price(model: Model) -> float:
    return model.price.input if model.price else 0.0


def _cost(model: Model) -> float:
    return model.price.input * OUTPUT_SHARE + model.price.output if model.price else 0.0
