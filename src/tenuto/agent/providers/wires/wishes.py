"""What is wished of an answer, as far as a model can do it; each wire has its own words for it."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from tenuto.agent.providers.connection.foreign import at
from tenuto.core.options import Effort
from tenuto.ports.model import Model, ModelRequest

ORDER = tuple(Effort)
"""From the least to the most."""
USUAL = (Effort.NONE, Effort.LOW, Effort.MEDIUM, Effort.HIGH)
"""Of a model that thinks, if nothing more is known."""


def effort_of(request: ModelRequest, model: Model) -> Effort | None:
    """The wished one or the next lower, else the lowest that the model has; None: its own way."""
    if request.effort is None:
        return None
    # Of a model of which nothing is known it is tried: what it refuses is left out and said.
    may_think = "reasoning" in model.capabilities or model.source == "default"
    has = model.efforts or (USUAL if may_think else ())
    steps = sorted(has, key=ORDER.index)
    wished = ORDER.index(request.effort)
    fitting = [step for step in steps if ORDER.index(step) <= wished]
    return fitting[-1] if fitting else next(iter(steps), None)


def limit_of(request: ModelRequest, model: Model) -> int | None:
    """The most tokens that may be answered, as far as the model can; None: the provider decides."""
    wished = request.max_tokens or request.options.max_output_tokens
    return min(wished, model.max_output) if wished and model.max_output else wished


def schema_of(request: ModelRequest) -> Mapping[str, Any] | None:
    """The named schema that the answer shall follow."""
    named: Mapping[str, Any] = at(request.options.response_format, "json_schema")
    return named if isinstance(at(named, "schema"), dict) else None


def given(**fields: Any) -> dict[str, Any]:
    """Those that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def host_of(url: str) -> str:
    return urlsplit(url).hostname or ""


def is_of(host: str, *domains: str) -> bool:
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)
