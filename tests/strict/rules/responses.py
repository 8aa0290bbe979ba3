"""What the OpenAI Responses wire refuses."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.strict.facts import Facts
from tests.strict.notary import decrypt
from tests.strict.refusal import Body, Complaint, Judge, as_openai, tokens_of
from tests.strict.rules.shape import (
    ID,
    NAME,
    data_url,
    image_fault,
    schema_fault,
    twice,
)

FIELDS = frozenset(
    [
        "model",
        "input",
        "instructions",
        "stream",
        "store",
        "include",
        "reasoning",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "max_output_tokens",
        "temperature",
        "top_p",
        "text",
        "metadata",
        "prompt_cache_key",
        "prompt_cache_retention",
        "safety_identifier",
        "service_tier",
        "truncation",
        "previous_response_id",
        "user",
    ]
)
ITEMS: Mapping[str, frozenset[str]] = {
    "message": frozenset({"type", "role", "content", "id", "status", "phase"}),
    "reasoning": frozenset({"type", "id", "summary", "encrypted_content", "content", "status"}),
    "function_call": frozenset({"type", "id", "call_id", "name", "arguments", "status"}),
    "function_call_output": frozenset({"type", "id", "call_id", "output", "status"}),
}
SAYS = {
    "user": {"input_text", "input_image", "input_file"},
    "assistant": {"output_text", "refusal"},
}
ID_CHARACTERS = 64
LEAST_OUTPUT = 16
MOST_PAIRS = 16

Item = Mapping[str, Any]


def fields_are_known(body: Body, _: Facts) -> Complaint | None:
    odd = sorted(set(body) - FIELDS)
    return (
        Complaint(f"Unknown parameter: '{odd[0]}'.", odd[0], "unknown_parameter") if odd else None
    )


def items_are_known(body: Body, _: Facts) -> Complaint | None:
    if not body.get("input"):
        return Complaint(
            "Missing required parameter: 'input'.", "input", "missing_required_parameter"
        )
    for n, item in enumerate(body["input"]):
        kind = item.get("type", "message")
        if kind not in ITEMS:
            return Complaint(f"Invalid value: '{kind}'.", f"input[{n}].type", "invalid_value")
        if odd := sorted(set(item) - ITEMS[kind]):
            name = f"input[{n}].{odd[0]}"
            return Complaint(f"Unknown parameter: '{name}'.", name, "unknown_parameter")
    return None


def messages_say_what_their_role_can(body: Body, _: Facts) -> Complaint | None:
    for n, item in _of(body, "message"):
        kinds = SAYS.get(item["role"], SAYS["user"])
        for m, block in enumerate(_content(item)):
            if block.get("type") not in kinds:
                given = " and ".join(f"'{kind}'" for kind in sorted(kinds))
                words = f"Invalid value: '{block.get('type')}'. Supported values are: {given}."
                return Complaint(words, f"input[{n}].content[{m}]", "invalid_value")
        if item["content"] in ([], None):
            return Complaint(f"Invalid 'input[{n}].content': empty array.", code="empty_array")
    return None


def calls_are_sound(body: Body, _: Facts) -> Complaint | None:
    for n, item in _of(body, "function_call"):
        at = f"input[{n}]"
        if not ID.match(item["call_id"]) or len(item["call_id"]) > ID_CHARACTERS:
            most = f"Expected a string with maximum length {ID_CHARACTERS}"
            return Complaint(f"Invalid '{at}.call_id': string too long. {most}.", f"{at}.call_id")
        if not NAME.match(item["name"]):
            expected = "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
            words = f"Invalid '{at}.name': string does not match pattern. {expected}"
            return Complaint(words, f"{at}.name", "invalid_value")
        if not isinstance(item["arguments"], str):
            return Complaint(f"Invalid type for '{at}.arguments': expected a string.")
    return None


def calls_have_results(body: Body, _: Facts) -> Complaint | None:
    given = [item["call_id"] for _, item in _of(body, "function_call_output")]
    calls = [item["call_id"] for _, item in _of(body, "function_call")]
    for call in calls:
        if call not in given:
            return Complaint(f"No tool output found for function call {call}.", "input")
    if double := twice(calls) or twice(given):
        return Complaint(f"Duplicate function call with call_id {double}.", "input")
    return None


def results_have_calls(body: Body, _: Facts) -> Complaint | None:
    calls: set[str] = set()
    for item in body["input"]:
        if item.get("type") == "function_call":
            calls.add(item["call_id"])
        if item.get("type") == "function_call_output" and item["call_id"] not in calls:
            words = "No tool call found for function call output with call_id"
            return Complaint(f"{words} {item['call_id']}.", "input")
    return None


def results_say_what_a_tool_can(body: Body, _: Facts) -> Complaint | None:
    for n, item in _of(body, "function_call_output"):
        given = item.get("output")
        if isinstance(given, str):
            continue
        if not isinstance(given, list) or not given:
            words = f"Invalid type for 'input[{n}].output': expected a string or an array."
            return Complaint(words, f"input[{n}].output", "invalid_type")
        if any(block.get("type") not in SAYS["user"] for block in given):
            return Complaint("Invalid value.", f"input[{n}].output", "invalid_value")
    return None


def nothing_is_looked_up(body: Body, _: Facts) -> Complaint | None:
    # Without storage an id means nothing; only an item that carries all it needs may have one.
    if body.get("store") is not False:
        return Complaint("Zero Data Retention is enabled: `store` must be false.", "store")
    for item in body["input"]:
        if item.get("id") and not item.get("encrypted_content"):
            why = "Items are not persisted when `store` is set to false."
            way = "Try again with `store` set to true, or remove this item from your input."
            words = f"Item with id '{item['id']}' not found. {why} {way}"
            return Complaint(words, "input", status=404)
    return None


def thoughts_are_its_own(body: Body, facts: Facts) -> Complaint | None:
    for _, item in _of(body, "reasoning"):
        made = decrypt(facts.name, item.get("encrypted_content"))
        if made is None or made["id"] != item.get("id", made["id"]):
            words = f"The encrypted content for item {item.get('id')} could not be verified."
            return Complaint(words, code="invalid_encrypted_content")
        if not isinstance(item.get("summary"), list):
            return Complaint("Missing required parameter: 'input[0].summary'.", "input")
    return None


def thoughts_are_followed_by_what_came_of_them(body: Body, _: Facts) -> Complaint | None:
    items = [*body["input"], {"type": ""}]
    for n, item in _of(body, "reasoning"):
        following = items[n + 1]
        kind = following.get("type", "message")
        ours = kind != "message" or following["role"] == "assistant"
        if kind not in ("message", "function_call", "reasoning") or not ours:
            without = "was provided without its required following item."
            return Complaint(f"Item '{item.get('id')}' of type 'reasoning' {without}", "input")
    return None


def tools_are_sound(body: Body, _: Facts) -> Complaint | None:
    tools = body.get("tools", ())
    for n, tool in enumerate(tools):
        if tool.get("type") != "function" or not NAME.match(str(tool.get("name", ""))):
            words = f"Missing required parameter: 'tools[{n}].name'."
            return Complaint(words, f"tools[{n}].name", "missing_required_parameter")
        schema = tool.get("parameters")
        words = schema_fault(schema) or (_strict_fault(schema) if tool.get("strict", True) else "")
        if words:
            return Complaint(f"Invalid schema for function '{tool['name']}': {words}")
    if double := twice(tool["name"] for tool in tools):
        return Complaint(f"Tool names must be unique: {double}", "tools")
    return None


def a_choice_needs_tools(body: Body, _: Facts) -> Complaint | None:
    if body.get("tool_choice", "auto") not in ("auto", "none") and not body.get("tools"):
        return Complaint("Tool choices other than auto require tools.", "tool_choice")
    return None


def wishes_fit_the_model(body: Body, facts: Facts) -> Complaint | None:
    code = "unsupported_parameter"
    if facts.thinks:
        for name in ("temperature", "top_p"):
            if name in body:
                words = f"Unsupported parameter: '{name}' is not supported with this model."
                return Complaint(words, name, code)
        return None
    if "reasoning.encrypted_content" in body.get("include", ()):
        return Complaint("Encrypted content is not supported with this model.", "include")
    if body.get("reasoning"):
        name = f"reasoning.{next(iter(body['reasoning']))}"
        words = f"Unsupported parameter: '{name}' is not supported with this model."
        return Complaint(words, name, code)
    return None


def thoughts_are_asked_for_sealed(body: Body, facts: Facts) -> Complaint | None:
    """No refusal of theirs, but the next request would be: what is not included cannot be told again."""
    if facts.thinks and "reasoning.encrypted_content" not in body.get("include", ()):
        return Complaint("reasoning.encrypted_content was not asked for", "include")
    return None


def the_limit_is_one_it_has(body: Body, facts: Facts) -> Complaint | None:
    limit = body.get("max_output_tokens")
    if limit is not None and limit < LEAST_OUTPUT:
        least = f"Expected a value >= {LEAST_OUTPUT}, but got {limit} instead."
        words = f"Invalid 'max_output_tokens': integer below minimum value. {least}"
        return Complaint(words, "max_output_tokens", "integer_below_min_value")
    if limit is not None and limit > facts.max_output:
        most = f"Expected a value <= {facts.max_output}, but got {limit} instead."
        words = f"Invalid 'max_output_tokens': integer above maximum value. {most}"
        return Complaint(words, "max_output_tokens", "integer_above_max_value")
    return None


def words_beside_are_short(body: Body, _: Facts) -> Complaint | None:
    if len(body.get("prompt_cache_key", "")) > ID_CHARACTERS:
        words = f"Invalid 'prompt_cache_key': string too long. Expected a string with maximum length {ID_CHARACTERS}."
        return Complaint(words, "prompt_cache_key", "string_above_max_length")
    if len(body.get("metadata") or ()) > MOST_PAIRS:
        words = f"Invalid 'metadata': too many properties. Expected at most {MOST_PAIRS}."
        return Complaint(words, "metadata", "object_above_max_properties")
    return None


def files_can_be_read(body: Body, facts: Facts) -> Complaint | None:
    for _, item in (*_of(body, "message"), *_of(body, "function_call_output")):
        for block in _content(item):
            if block["type"] == "input_image":
                fault = image_fault(block.get("image_url"), megabytes=50)
                if not facts.sees or fault:
                    words = fault or "This model does not support image inputs."
                    return Complaint(words, "input", "invalid_value")
            if block["type"] == "input_file":
                given = data_url(block.get("file_data"))
                if not block.get("filename") or given is None or given[0] != "application/pdf":
                    words = "Invalid input: Expected context stuffing file type to be a supported format: .pdf"
                    return Complaint(words, "input", "unsupported_file")
    return None


def the_window_holds_it(body: Body, facts: Facts) -> Complaint | None:
    if tokens_of(body["input"], body.get("instructions"), body.get("tools")) > facts.window:
        words = "Your input exceeds the context window of this model. Please adjust your input and try again."
        return Complaint(words, "input", "context_length_exceeded")
    return None


def _of(body: Body, kind: str) -> Iterator[tuple[int, Item]]:
    for n, item in enumerate(body["input"]):
        if item.get("type", "message") == kind:
            yield n, item


def _content(item: Item) -> list[Item]:
    told = item.get("output") if item.get("type") == "function_call_output" else item["content"]
    return told if isinstance(told, list) else []


def _strict_fault(schema: Mapping[str, Any]) -> str:
    if schema.get("additionalProperties") is not False:
        return "'additionalProperties' is required to be supplied and to be false."
    if set(schema.get("required", ())) != set(schema.get("properties", ())):
        return "'required' is required to be supplied and to be an array including every key in properties."
    return ""


RULES = (
    fields_are_known,
    items_are_known,
    messages_say_what_their_role_can,
    calls_are_sound,
    calls_have_results,
    results_have_calls,
    results_say_what_a_tool_can,
    nothing_is_looked_up,
    thoughts_are_its_own,
    thoughts_are_followed_by_what_came_of_them,
    thoughts_are_asked_for_sealed,
    tools_are_sound,
    a_choice_needs_tools,
    wishes_fit_the_model,
    the_limit_is_one_it_has,
    words_beside_are_short,
    files_can_be_read,
    the_window_holds_it,
)
responses = Judge(RULES, as_openai)
