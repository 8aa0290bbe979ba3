"""What one provider of the chat-completions wire refuses beyond what all do."""

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from tests.strict.facts import Facts, Flavour
from tests.strict.notary import decrypt, signed
from tests.strict.refusal import (
    Body,
    Complaint,
    Judge,
    as_google,
    as_mistral,
    as_openai,
    as_vllm,
)
from tests.strict.rules.chat import RULES, Message, parts_of

OPENAI_FIELDS = frozenset(
    [
        "model",
        "messages",
        "stream",
        "stream_options",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "max_tokens",
        "max_completion_tokens",
        "temperature",
        "top_p",
        "stop",
        "seed",
        "response_format",
        "metadata",
        "store",
        "user",
        "n",
        "reasoning_effort",
        "prompt_cache_key",
        "prompt_cache_retention",
        "verbosity",
        "service_tier",
    ]
)
MISTRAL_FIELDS = frozenset(
    [
        "model",
        "messages",
        "stream",
        "stream_options",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "max_tokens",
        "temperature",
        "top_p",
        "stop",
        "random_seed",
        "response_format",
        "metadata",
        "prompt_mode",
        "safe_prompt",
        "n",
    ]
)
MESSAGE_FIELDS = frozenset({"role", "content", "name", "tool_calls", "tool_call_id", "refusal"})
SKIP = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")
_NINE = re.compile(r"[a-zA-Z0-9]{9}\Z")


# OpenAI


def openai_knows_the_fields(body: Body, _: Facts) -> Complaint | None:
    if odd := sorted(set(body) - OPENAI_FIELDS):
        return Complaint(f"Unrecognized request argument supplied: {odd[0]}")
    for n, message in enumerate(body["messages"]):
        if odd := sorted(set(message) - MESSAGE_FIELDS):
            unexpected = f"Additional properties are not allowed ('{odd[0]}' was unexpected)"
            return Complaint(f"{unexpected} - 'messages.{n}'")
    return None


def openai_thinks_without_chance(body: Body, facts: Facts) -> Complaint | None:
    if not facts.thinks:
        if "reasoning_effort" in body:
            return Complaint("Unrecognized request argument supplied: reasoning_effort")
        return None
    if "max_tokens" in body:
        words = (
            "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        code = "unsupported_parameter"
        return Complaint(f"Unsupported parameter: {words}", "max_tokens", code)
    for name in ("temperature", "top_p"):
        if body.get(name, 1) != 1:
            only = "with this model. Only the default (1) value is supported."
            words = f"Unsupported value: '{name}' does not support {body[name]} {only}"
            return Complaint(words, name, "unsupported_value")
    if "stop" in body:
        words = "Unsupported parameter: 'stop' is not supported with this model."
        return Complaint(words, "stop", "unsupported_parameter")
    return None


def openai_keeps_no_metadata_unasked(body: Body, _: Facts) -> Complaint | None:
    if body.get("metadata") and not body.get("store"):
        words = "The 'metadata' parameter is only allowed when 'store' is enabled."
        return Complaint(words, "metadata")
    return None


# Google


def gemini_signs_its_calls(body: Body, facts: Facts) -> Complaint | None:
    # Of the turn under way, the first call of each step must have its signature.
    messages = body["messages"]
    asked = max((n for n, m in enumerate(messages) if m["role"] == "user"), default=0)
    for n, message in enumerate(messages):
        for m, call in enumerate(message.get("tool_calls") or ()):
            given = (call.get("extra_content") or {}).get("google", {}).get("thought_signature")
            if given is None and n > asked and m == 0:
                name = call["function"]["name"]
                why = "This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance."
                where = f"Additional data, function call `default_api:{name}` , position {n}."
                return Complaint(
                    f"Function call is missing a thought_signature in functionCall parts. {why} {where}"
                )
            text = f"{call['function']['name']} {call['function']['arguments']}"
            if given not in (None, *SKIP) and not signed(facts.name, text, given):
                return Complaint("Corrupted thought signature.")
    return None


def gemini_calls_after_somebody_spoke(body: Body, _: Facts) -> Complaint | None:
    for before, message in pairwise([{"role": "system"}, *body["messages"]]):
        if message.get("tool_calls") and before["role"] not in ("user", "tool"):
            must = "comes immediately after a user turn or after a function response turn."
            return Complaint(f"Please ensure that function call turn {must}")
    return None


def gemini_is_told_something(body: Body, _: Facts) -> Complaint | None:
    if all(message["role"] in ("system", "developer") for message in body["messages"]):
        return Complaint("GenerateContentRequest.contents: contents is not specified")
    for message in body["messages"]:
        if message["role"] != "tool" and not message.get("tool_calls") and _is_empty(message):
            words = "Unable to submit request because it must have a text parameter."
            return Complaint(words)
    return None


# DeepSeek and Kimi


def deepseek_is_told_its_thoughts(body: Body, _: Facts) -> Complaint | None:
    # Where tools were called between two prompts, all answers between them need their thoughts.
    if (body.get("thinking") or {}).get("type") == "disabled":
        return None
    stretch: list[Message] = []
    for message in [*body["messages"], {"role": "user"}]:
        if message["role"] == "assistant":
            stretch.append(message)
        elif message["role"] == "user":
            called = any(one.get("tool_calls") for one in stretch)
            if called and not all(isinstance(o.get("reasoning_content"), str) for o in stretch):
                must = "in the thinking mode must be passed back to the API."
                return Complaint(f"The `reasoning_content` {must}", code="invalid_request_error")
            stretch = []
    return None


def kimi_is_told_its_thoughts(body: Body, _: Facts) -> Complaint | None:
    if (body.get("thinking") or {}).get("type") == "disabled":
        return None
    for n, message in enumerate(body["messages"]):
        # An empty text is taken for none.
        if message.get("tool_calls") and not message.get("reasoning_content"):
            where = f"in assistant tool call message at index {n}"
            return Complaint(f"thinking is enabled but reasoning_content is missing {where}")
    return None


def kimi_hears_no_silence(body: Body, _: Facts) -> Complaint | None:
    for n, message in enumerate(body["messages"]):
        if not message.get("tool_calls") and message["role"] != "tool" and _is_empty(message):
            where = f"the message at position {n} with role '{message['role']}'"
            return Complaint(f"Invalid request: {where} must not be empty")
    return None


def kimi_has_one_temperature(body: Body, _: Facts) -> Complaint | None:
    if body.get("temperature", 1) != 1:
        return Complaint("invalid temperature: only 1 is allowed for this model")
    return None


# Mistral


def mistral_knows_the_fields(body: Body, _: Facts) -> Complaint | None:
    odd = sorted(set(body) - MISTRAL_FIELDS)
    for message in body["messages"]:
        odd += sorted(set(message) - MESSAGE_FIELDS - {"prefix"})
    if odd:
        words = f'{{"detail":[{{"type":"extra_forbidden","loc":["body","{odd[0]}"],"msg":"Extra inputs are not permitted"}}]}}'
        return Complaint(words, odd[0], status=422)
    return None


def mistral_has_ids_of_nine(body: Body, _: Facts) -> Complaint | None:
    for message in body["messages"]:
        ids = [call.get("id") for call in message.get("tool_calls") or ()]
        ids += [message["tool_call_id"]] if message["role"] == "tool" else []
        for given in ids:
            if not _NINE.match(str(given)):
                must = "must be a-z, A-Z, 0-9, with a length of 9."
                return Complaint(f"Tool call id was {given} but {must}", code="3280")
    return None


def mistral_keeps_the_order(body: Body, _: Facts) -> Complaint | None:
    messages = body["messages"]
    for before, message in pairwise(messages):
        if message["role"] == "user" and before["role"] == "tool":
            return Complaint("Unexpected role 'user' after role 'tool'")
        if message["role"] == "system" and before["role"] in ("assistant", "tool"):
            return Complaint(f"Unexpected role 'system' after role '{before['role']}'")
    if messages[-1]["role"] not in ("user", "tool"):
        expected = "Expected last role User or Tool (or Assistant with prefix True) for serving"
        return Complaint(f"{expected} but got {messages[-1]['role']}")
    return None


def mistral_hears_something(body: Body, _: Facts) -> Complaint | None:
    for message in body["messages"]:
        if message["role"] == "assistant" and not message.get("tool_calls") and _is_empty(message):
            must = "must have either content or tool_calls, but not none."
            return Complaint(f"Assistant message {must}", code="3240")
    return None


# OpenRouter


def openrouter_hands_thoughts_on(body: Body, facts: Facts) -> Complaint | None:
    for n, message in enumerate(body["messages"]):
        for detail in message.get("reasoning_details") or ():
            if not _is_own(detail, facts):
                return Complaint(f"messages.{n}.content.0: Invalid `signature` in `thinking` block")
    return None


# vLLM, llama.cpp and their likes: what the template of the model cannot say


def local_templates_take_turns(body: Body, _: Facts) -> Complaint | None:
    # Mistral's template, as it is shipped: calls and results are passed over, the rest takes turns.
    said = [m for m in body["messages"] if m["role"] != "tool" and not m.get("tool_calls")]
    if said and said[0]["role"] == "system":
        said = said[1:]
    for n, message in enumerate(said):
        if message["role"] != ("user" if n % 2 == 0 else "assistant"):
            must = "conversation roles must alternate user/assistant/user/assistant/..."
            return Complaint(f"After the optional system message, {must}")
    return None


def local_templates_end_with_a_question(body: Body, _: Facts) -> Complaint | None:
    if body["messages"][-1]["role"] == "assistant":
        return Complaint("Assistant response prefill is incompatible with enable_thinking.")
    return None


def _is_empty(message: Message) -> bool:
    content = message.get("content")
    if isinstance(content, list):
        return not any(b["type"] != "text" or b["text"].strip() for b in parts_of(message))
    return not (content or "").strip()


def _is_own(detail: Mapping[str, Any], facts: Facts) -> bool:
    if detail.get("type") == "reasoning.encrypted":
        return decrypt(facts.name, detail.get("data")) is not None
    return signed(facts.name, detail.get("text") or "", detail.get("signature"))


FLAVOURS: Mapping[Flavour, Judge] = {
    "openai": Judge(
        (
            *RULES,
            openai_knows_the_fields,
            openai_thinks_without_chance,
            openai_keeps_no_metadata_unasked,
        ),
        as_openai,
    ),
    "gemini": Judge(
        (
            *RULES,
            gemini_is_told_something,
            gemini_calls_after_somebody_spoke,
            gemini_signs_its_calls,
        ),
        as_google,
    ),
    "deepseek": Judge((*RULES, deepseek_is_told_its_thoughts), as_openai),
    "kimi": Judge(
        (*RULES, kimi_is_told_its_thoughts, kimi_hears_no_silence, kimi_has_one_temperature),
        as_openai,
    ),
    "mistral": Judge(
        (
            *RULES,
            mistral_knows_the_fields,
            mistral_has_ids_of_nine,
            mistral_keeps_the_order,
            mistral_hears_something,
        ),
        as_mistral,
    ),
    "openrouter": Judge((*RULES, openrouter_hands_thoughts_on), as_openai),
    "local": Judge(
        (*RULES, local_templates_take_turns, local_templates_end_with_a_question), as_vllm
    ),
}
