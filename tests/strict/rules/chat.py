"""What every server of the chat-completions wire refuses."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.strict.facts import Facts
from tests.strict.refusal import Body, Complaint, tokens_of
from tests.strict.rules.shape import ID, NAME, image_fault, is_object, schema_fault, twice

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
ID_CHARACTERS = 40
STOPS = 4

Message = Mapping[str, Any]


def somebody_speaks(body: Body, _: Facts) -> Complaint | None:
    if not body.get("messages"):
        least = "Expected an array with minimum length 1, but got an empty array instead."
        return Complaint(f"Invalid 'messages': empty array. {least}", "messages", "empty_array")
    for n, message in enumerate(body["messages"]):
        if message.get("role") not in ROLES:
            words = f"Invalid value: '{message.get('role')}'. Supported values are: {ROLES}."
            return Complaint(words, f"messages[{n}].role", "invalid_value")
    return None


def contents_are_sound(body: Body, _: Facts) -> Complaint | None:
    for n, message in enumerate(body["messages"]):
        content = message.get("content")
        if content is None and not (message["role"] == "assistant" and message.get("tool_calls")):
            words = "Invalid value for 'content': expected a string, got null."
            return Complaint(words, f"messages.[{n}].content")
        if content == []:
            return Complaint(f"Invalid 'messages[{n}].content': empty array.", code="empty_array")
        for block in parts_of(message):
            if message["role"] == "tool" and block.get("type") != "text":
                words = f"Invalid 'messages[{n}]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL."
                return Complaint(words, f"messages[{n}].content")
            if block.get("type") not in ("text", "image_url", "file", "input_audio", "refusal"):
                return Complaint(f"Invalid value: '{block.get('type')}'.", f"messages[{n}].content")
    return None


def calls_are_sound(body: Body, _: Facts) -> Complaint | None:
    for n, message in enumerate(body["messages"]):
        if message.get("tool_calls") == []:
            return Complaint(f"[] is too short - 'messages.{n}.tool_calls'")
        for m, call in enumerate(message.get("tool_calls") or ()):
            at = f"messages[{n}].tool_calls[{m}]"
            if words := _call_fault(at, call):
                return Complaint(words, at, "invalid_value")
    return None


def calls_have_results_at_once(body: Body, _: Facts) -> Complaint | None:
    messages = body["messages"]
    for n, message in enumerate(messages):
        if message["role"] != "assistant" or not message.get("tool_calls"):
            continue
        given = {result.get("tool_call_id") for result in _following_results(messages, n)}
        missing = [call["id"] for call in message["tool_calls"] if call["id"] not in given]
        if missing:
            must = "must be followed by tool messages responding to each 'tool_call_id'."
            which = f"The following tool_call_ids did not have response messages: {missing[0]}"
            return Complaint(f"An assistant message with 'tool_calls' {must} {which}", "messages")
    return None


def results_have_calls(body: Body, _: Facts) -> Complaint | None:
    open_calls: list[str] = []
    for n, message in enumerate(body["messages"]):
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_calls:
                must = "must be a response to a preceeding message with 'tool_calls'."
                return Complaint(f"messages with role 'tool' {must}", f"messages.[{n}].role")
            open_calls.remove(message["tool_call_id"])
            continue
        open_calls = [call["id"] for call in message.get("tool_calls") or ()]
        if double := twice(open_calls):
            return Complaint(f"Duplicate value for 'tool_call_id' of '{double}'")
    return None


def call_ids_are_unique(body: Body, _: Facts) -> Complaint | None:
    # Gateways to Anthropic and Bedrock refuse an id that is there twice in a conversation.
    ids = [call["id"] for m in body["messages"] for call in m.get("tool_calls") or ()]
    return Complaint("messages: `tool_use` ids must be unique") if twice(ids) else None


def calls_need_tools(body: Body, _: Facts) -> Complaint | None:
    # LiteLLM, Bedrock and some templates refuse calls of tools that nobody offers.
    told = any(m.get("tool_calls") or m["role"] == "tool" for m in body["messages"])
    if told and not body.get("tools"):
        return Complaint("Tool use was found in the messages, but no tools were provided", "tools")
    return None


def tools_are_sound(body: Body, facts: Facts) -> Complaint | None:
    if "tools" not in body:
        return None
    if not body["tools"]:
        return Complaint("[] is too short - 'tools'", "tools")
    if not facts.calls:
        return Complaint(f"{facts.name} does not support tools", "tools")
    for n, tool in enumerate(body["tools"]):
        function = tool.get("function") or {}
        if tool.get("type") != "function" or not NAME.match(str(function.get("name", ""))):
            expected = "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
            words = f"Invalid 'tools[{n}].function.name': string does not match pattern. {expected}"
            return Complaint(words, f"tools[{n}].function.name", "invalid_value")
        if words := schema_fault(function.get("parameters")) or "":
            return Complaint(f"Invalid schema for function '{function['name']}': {words}")
    if double := twice(tool["function"]["name"] for tool in body["tools"]):
        return Complaint(f"Tool names must be unique: {double}", "tools")
    return None


def a_choice_needs_tools(body: Body, _: Facts) -> Complaint | None:
    for name in ("tool_choice", "parallel_tool_calls"):
        if name in body and not body.get("tools"):
            words = (
                f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified."
            )
            return Complaint(words, name)
    return None


def stream_options_need_a_stream(body: Body, _: Facts) -> Complaint | None:
    if body.get("stream_options") and not body.get("stream"):
        words = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        return Complaint(words, "stream_options")
    return None


def the_limit_is_one_it_has(body: Body, facts: Facts) -> Complaint | None:
    for name in ("max_tokens", "max_completion_tokens"):
        limit = body.get(name)
        if limit is not None and not 1 <= limit <= facts.max_output:
            most = f"This model supports at most {facts.max_output} completion tokens"
            words = f"{name} is too large: {limit}. {most}, whereas you provided {limit}."
            return Complaint(words, name, "invalid_value")
    return None


def stops_are_few(body: Body, _: Facts) -> Complaint | None:
    stops = body.get("stop") or ()
    if isinstance(stops, list) and len(stops) > STOPS:
        most = f"Expected an array with maximum length {STOPS}"
        words = f"Invalid 'stop': array too long. {most}, but got an array with length {len(stops)} instead."
        return Complaint(words, "stop", "array_above_max_length")
    return None


def images_can_be_seen(body: Body, facts: Facts) -> Complaint | None:
    for message in body["messages"]:
        for block in parts_of(message):
            if block["type"] != "image_url":
                continue
            if not facts.sees:
                words = "Invalid content type. image_url is only supported by certain models."
                return Complaint(words, "messages", "invalid_value")
            if words := image_fault(block["image_url"].get("url"), megabytes=20) or "":
                return Complaint(words, "messages", "invalid_image_format")
    return None


def the_window_holds_it(body: Body, facts: Facts) -> Complaint | None:
    said = tokens_of(body["messages"], body.get("tools"))
    if said <= facts.window:
        return None
    most = f"This model's maximum context length is {facts.window} tokens."
    words = f"{most} However, your messages resulted in {said} tokens. Please reduce the length of the messages."
    return Complaint(words, "messages", "context_length_exceeded")


def parts_of(message: Message) -> Iterator[Mapping[str, Any]]:
    content = message.get("content")
    if isinstance(content, list):
        yield from content


def _call_fault(at: str, call: Mapping[str, Any]) -> str | None:
    function, call_id = call.get("function") or {}, str(call.get("id", ""))
    if len(call_id) > ID_CHARACTERS:
        most = f"Expected a string with maximum length {ID_CHARACTERS}"
        return f"Invalid '{at}.id': string too long. {most}, but got a string with length {len(call_id)} instead."
    if call.get("type") != "function" or not ID.match(call_id):
        return f"Missing required parameter: '{at}.id'."
    if not NAME.match(str(function.get("name", ""))):
        expected = "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
        return f"Invalid '{at}.function.name': string does not match pattern. {expected}"
    if not is_object(function.get("arguments")):
        # Whoever puts the call into a template, or hands it on, has to read it.
        return f"Failed to parse tool call arguments as JSON: '{at}.function.arguments'"
    return None


def _following_results(messages: list[Message], n: int) -> Iterator[Message]:
    for message in messages[n + 1 :]:
        if message["role"] != "tool":
            return
        yield message


RULES = (
    somebody_speaks,
    contents_are_sound,
    calls_are_sound,
    calls_have_results_at_once,
    results_have_calls,
    call_ids_are_unique,
    calls_need_tools,
    tools_are_sound,
    a_choice_needs_tools,
    stream_options_need_a_stream,
    the_limit_is_one_it_has,
    stops_are_few,
    images_can_be_seen,
    the_window_holds_it,
)
