"""What the Anthropic messages wire refuses in a request as a whole."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.strict.facts import Facts
from tests.strict.refusal import Body, Complaint, Judge, as_anthropic, tokens_of
from tests.strict.rules import anthropic_blocks, anthropic_calls
from tests.strict.rules.shape import NAME, schema_fault, twice

FIELDS = frozenset(
    [
        "model",
        "messages",
        "max_tokens",
        "stream",
        "system",
        "tools",
        "tool_choice",
        "temperature",
        "top_p",
        "top_k",
        "stop_sequences",
        "metadata",
        "thinking",
        "output_config",
        "cache_control",
        "service_tier",
        "context_management",
    ]
)
LEAST_BUDGET = 1024
MOST_CACHED = 4


def fields_are_known(body: Body, _: Facts) -> str | None:
    odd = sorted(set(body) - FIELDS)
    return f"{odd[0]}: Extra inputs are not permitted" if odd else None


def a_limit_is_given(body: Body, facts: Facts) -> str | None:
    limit = body.get("max_tokens")
    if limit is None:
        return "max_tokens: Field required"
    if not isinstance(limit, int) or limit < 1:
        return "max_tokens: Input should be greater than or equal to 1"
    if limit > facts.max_output:
        most = "which is the maximum allowed number of output tokens for"
        return f"max_tokens: {limit} > {facts.max_output}, {most} {facts.name}"
    return None


def the_user_begins(body: Body, _: Facts) -> str | None:
    messages = body.get("messages")
    if not messages:
        return "messages: at least one message is required"
    for n, message in enumerate(messages):
        if message.get("role") not in ("user", "assistant"):
            return f"messages.{n}.role: Input should be 'user' or 'assistant'"
    if messages[0]["role"] != "user":
        return 'messages: first message must use the "user" role'
    return None


def the_user_ends(body: Body, facts: Facts) -> str | None:
    # Claude since 4.6 does not go on from its own words.
    last = body["messages"][-1]
    if last["role"] == "user":
        return None
    if not facts.prefills:
        must = "The conversation must end with a user message."
        return f"This model does not support assistant message prefill. {must}"
    text = _last_text(last)
    if text is not None and text != text.rstrip():
        return "messages: final assistant content cannot end with trailing whitespace"
    return None


def tools_are_sound(body: Body, _: Facts) -> str | None:
    tools = body.get("tools", [])
    for n, tool in enumerate(tools):
        if not NAME.match(str(tool.get("name", ""))):
            pattern = "'^[a-zA-Z0-9_-]{1,64}$'"
            return f"tools.{n}.custom.name: String should match pattern {pattern}"
        if schema_fault(tool.get("input_schema")):
            return f"tools.{n}.custom.input_schema: JSON schema is invalid"
    if twice(tool["name"] for tool in tools):
        return "tools: Tool names must be unique."
    return None


def a_choice_needs_tools(body: Body, _: Facts) -> str | None:
    if "tool_choice" in body and not body.get("tools"):
        return "tool_choice: may only be specified while providing tools"
    return None


def thinking_fits_the_model(body: Body, facts: Facts) -> str | None:
    thinking = body.get("thinking") or {"type": "disabled"}
    match thinking.get("type"):
        case "disabled":
            return None
        case _ if not facts.thinks:
            return "thinking: this model does not support thinking"
        case "adaptive":
            return None if facts.adaptive else "adaptive thinking is not supported on this model"
        case "enabled" if facts.adaptive:
            use = 'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
            return f'"thinking.type.enabled" is not supported for this model. {use}'
        case "enabled":
            return _budget_fault(thinking.get("budget_tokens"), body["max_tokens"])
        case _:
            return "thinking.type: Input should be 'enabled', 'disabled' or 'adaptive'"


def chance_fits_the_model(body: Body, facts: Facts) -> str | None:
    given = [name for name in ("temperature", "top_p", "top_k") if name in body]
    if given and facts.adaptive:
        return f"`{given[0]}` is deprecated for this model."
    if "temperature" in body and "top_p" in body:
        return "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
    on = (body.get("thinking") or {}).get("type", "disabled") != "disabled"
    if on and body.get("temperature", 1) != 1:
        return "`temperature` may only be set to 1 when thinking is enabled."
    if not 0 <= body.get("temperature", 1) <= 1:
        return "temperature: range: 0..1"
    return None


def efforts_are_known(body: Body, facts: Facts) -> str | None:
    config = body.get("output_config") or {}
    effort = config.get("effort")
    if effort is not None and not facts.adaptive:
        return "This model does not support the effort parameter."
    if effort not in (None, "low", "medium", "high", "xhigh", "max"):
        return "output_config.effort: Input should be 'low', 'medium', 'high' or 'max'"
    return None


def stops_say_something(body: Body, _: Facts) -> str | None:
    if any(not stop.strip() for stop in body.get("stop_sequences", ())):
        return "stop_sequences: each stop sequence must contain non-whitespace"
    return None


def little_is_marked_for_the_cache(body: Body, _: Facts) -> str | None:
    marked = list(_marked([body.get("system"), body.get("tools"), body["messages"]]))
    if len(marked) > MOST_CACHED:
        most = f"A maximum of {MOST_CACHED} blocks with cache_control may be provided."
        return f"{most} Found {len(marked)}."
    if any(block.get("type") == "text" and not block.get("text") for block in marked):
        return "cache_control cannot be set for empty text blocks"
    return None


def metadata_names_a_user_alone(body: Body, _: Facts) -> str | None:
    odd = sorted(set(body.get("metadata") or ()) - {"user_id"})
    return f"metadata.{odd[0]}: Extra inputs are not permitted" if odd else None


def the_window_holds_it(body: Body, facts: Facts) -> Complaint | None:
    said = tokens_of(body["messages"], body.get("system"), body.get("tools"))
    if said > facts.window:
        return Complaint(f"prompt is too long: {said} tokens > {facts.window} maximum")
    if said + body["max_tokens"] > facts.window:
        given = f"{said} + {body['max_tokens']} > {facts.window}"
        what = "decrease input length or `max_tokens` and try again"
        return Complaint(f"input length and `max_tokens` exceed context limit: {given}, {what}")
    return None


def _budget_fault(budget: Any, limit: int) -> str | None:
    if not isinstance(budget, int) or budget < LEAST_BUDGET:
        least = f"Input should be greater than or equal to {LEAST_BUDGET}"
        return f"thinking.enabled.budget_tokens: {least}"
    if budget >= limit:
        return "`max_tokens` must be greater than `thinking.budget_tokens`."
    return None


def _last_text(message: Mapping[str, Any]) -> str | None:
    content = message["content"]
    if isinstance(content, str):
        return content
    last = content[-1] if content else {}
    return str(last["text"]) if last.get("type") == "text" else None


def _marked(said: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(said, list):
        for one in said:
            yield from _marked(one)
    elif isinstance(said, Mapping):
        if said.get("cache_control"):
            yield said
        yield from _marked(said.get("content"))


RULES = (
    fields_are_known,
    a_limit_is_given,
    the_user_begins,
    *anthropic_blocks.RULES,
    *anthropic_calls.RULES,
    the_user_ends,
    tools_are_sound,
    a_choice_needs_tools,
    thinking_fits_the_model,
    chance_fits_the_model,
    efforts_are_known,
    stops_say_something,
    little_is_marked_for_the_cache,
    metadata_names_a_user_alone,
    the_window_holds_it,
)
anthropic = Judge(RULES, as_anthropic)
