"""Which model to begin with when nobody has said."""

import re
from collections.abc import Sequence

from tenuto.ports.model import Model

_BALANCED = re.compile(r"(?:.*/)?claude-(?:.*-)?sonnet\b.*")
_NUMBERED = re.compile(r"(?:.*/)?gpt-(\d+(?:\.\d+)?)")


def first_choice(models: Sequence[Model]) -> Model | None:
    """A model of the first provider: its usual one for everything if we know it, else its first.

    Providers list their models in any order, and the first may be old, tiny or dear.
    """
    own = [model for model in models if model.provider == models[0].provider]
    balanced = [model for model in own if _BALANCED.fullmatch(model.name)]
    if balanced:
        return balanced[0]
    numbered = [(float(m[1]), model) for model in own if (m := _NUMBERED.fullmatch(model.name))]
    if numbered:
        return max(numbered, key=lambda pair: pair[0])[1]
    return own[0] if own else None
