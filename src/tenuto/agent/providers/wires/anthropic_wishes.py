"""Wishes on the Anthropic messages wire: how long, how hard, and what goes with what."""

import re
from collections.abc import Sequence
from typing import Any

from tenuto.agent.providers.wires.wishes import effort_of, given, limit_of, schema_of
from tenuto.agent.sizes import size_of
from tenuto.core.options import Effort
from tenuto.ports.model import Model, ModelRequest

LEAST_MAX_TOKENS = 4096
"""The wire demands a limit; every model allows this one."""
UNKNOWN_MAX_TOKENS = 8192
MAX_TOKENS = (((4, 0), 32_000), ((3, 7), 64_000), ((3, 5), 8192), ((0, 0), 4096))
"""By the version of the model, the newest first: what all of them allow."""
LEAST_ANSWER = 1024
BYTES_PER_TOKEN = 3
"""Fewer than most texts have, so that there is rather too much room left for the input."""

BUDGETS = {Effort.LOW: 4096, Effort.MEDIUM: 10_000, Effort.HIGH: 24_000, Effort.MAX: 48_000}
LEAST_BUDGET = 1024
ADAPTIVE = (4, 6)
"""From this version on a model decides by itself how much to think, and later ones refuse budgets."""

Messages = Sequence[dict[str, Any]]
"""As they go out."""

_VERSION = re.compile(r"claude-(?:[a-z]+-)*(\d)(?:[-.](\d{1,2}))?(?!\d)")


def wishes(request: ModelRequest, model: Model, messages: Messages) -> dict[str, Any]:
    """Fields of the body; what does not go together with thinking is left out."""
    options, limit = request.options, _max_tokens(request, model)
    thinking, effort = _thinking(request, model, limit, messages)
    thinks = thinking is not None and thinking["type"] != "disabled"
    schema = schema_of(request)
    shape = {"type": "json_schema", "schema": schema["schema"]} if schema else None
    sampled = options.temperature is not None
    return given(
        max_tokens=limit,
        # Its range ends where that of others is half through.
        temperature=min(options.temperature or 0.0, 1.0) if sampled and not thinks else None,
        # Newer models refuse the two together.
        top_p=None if sampled or thinks else options.top_p,
        # White space alone is refused.
        stop_sequences=[stop for stop in options.stop or () if stop.strip()] or None,
        metadata=given(user_id=(options.metadata or {}).get("user_id")) or None,
        thinking=thinking,
        output_config=given(effort=effort, format=shape) or None,
    )


def _max_tokens(request: ModelRequest, model: Model) -> int:
    most = model.max_output or _usual_limit(model)
    limit = min(limit_of(request, model) or most, most)
    # What is said and what is answered share the window.
    told = size_of(request.turns, request.system, request.tools) // BYTES_PER_TOKEN
    left = model.context_window - told
    return max(1, min(limit, max(left, LEAST_ANSWER)))


def _usual_limit(model: Model) -> int:
    version = _version(model)
    if version is None:
        return UNKNOWN_MAX_TOKENS
    return next(limit for least, limit in MAX_TOKENS if version >= least)


def _thinking(
    request: ModelRequest, model: Model, limit: int, messages: Messages
) -> tuple[dict[str, Any] | None, str | None]:
    """How to think, and how hard; None: as the model does by itself."""
    effort = effort_of(request, model)
    if effort is None:
        return None, None
    if effort is Effort.NONE:
        return {"type": "disabled"}, None
    version = _version(model)
    if version is not None and version >= ADAPTIVE:
        return {"type": "adaptive", "display": "summarized"}, str(effort)
    budget = min(BUDGETS[effort], limit - LEAST_ANSWER)
    if budget < LEAST_BUDGET or not _may_begin_to_think(messages):
        return None, None
    return {"type": "enabled", "budget_tokens": budget}, None


def _may_begin_to_think(messages: Messages) -> bool:
    """With a budget, every step of a turn that goes on must have begun with a thought of its own."""
    for message in reversed(messages):
        kinds = [block["type"] for block in message["content"]]
        if message["role"] == "user" and "tool_result" not in kinds:
            return True
        if message["role"] == "assistant" and kinds[0] not in ("thinking", "redacted_thinking"):
            return False
    return True


def _version(model: Model) -> tuple[int, int] | None:
    """None: not one of Anthropic's own."""
    found = _VERSION.search(model.name)
    return (int(found[1]), int(found[2] or 0)) if found else None
