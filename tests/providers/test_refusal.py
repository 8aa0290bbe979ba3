"""Refusals as providers really word them, and what each is taken for."""

import json
from typing import Any

import pytest

from tenuto.agent.providers.connection.errors import Border
from tenuto.core.run import Reason
from tenuto.ports.model import ProviderError, Trouble

BORDER = Border("house", secret="")


def refused(status: int, body: Any, headers: dict[str, str] | None = None) -> ProviderError:
    return BORDER.refused(status, headers or {}, json.dumps(body).encode())


def openai(message: str, *, code: Any = None, param: str | None = None) -> dict[str, Any]:
    kind = "invalid_request_error"
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def anthropic(message: str, kind: str = "invalid_request_error") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


def limited(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "tokens", "code": "rate_limit_exceeded"}}


TOO_LONG: list[tuple[int, Any]] = [
    (
        400,
        openai(
            "This model's maximum context length is 128000 tokens. However, your messages resulted "
            "in 130001 tokens. Please reduce the length of the messages.",
            code="context_length_exceeded",
            param="messages",
        ),
    ),
    (400, openai("Your input exceeds the context window of this model.", param="input")),
    (400, anthropic("prompt is too long: 209441 tokens > 200000 maximum")),
    (400, anthropic("input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000")),
    (413, anthropic("Request exceeds the maximum size", "request_too_large")),
    (
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "The input token count (1091639) exceeds the maximum number of "
                    "tokens allowed (1048576).",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
    ),
    (
        500,
        {
            "error": {
                "code": 500,
                "message": "the request exceeds the available context size. try increasing it",
                "type": "exceed_context_size_error",
                "n_ctx": 256,
            }
        },
    ),
    (400, {"object": "error", "message": "prompt too long; exceeded max context length by 9"}),
    (400, {"error": "prompt too long; exceeded max context length by 12 tokens"}),
    (
        400,
        {
            "object": "error",
            "message": "Prompt contains 40001 tokens and 0 draft tokens, too large for model with "
            "32768 maximum context length",
            "type": "invalid_request_prompt",
        },
    ),
    (400, {"error": "This model's maximum prompt length is 131072 but the request has 140000"}),
    (400, openai("Your request exceeded model token limit: 262144 (requested: 300000)")),
    (413, openai("Request too large for model `m` on tokens per minute: Limit 6000", code="x")),
    (429, openai("Request too large for gpt-4 on tokens per min (TPM): Limit 10000")),
    (400, "The number of tokens to keep is greater than the context length."),
]


@pytest.mark.parametrize(("status", "body"), TOO_LONG)
def test_too_long_is_known_in_the_words_of_every_provider(status: int, body: Any) -> None:
    error = refused(status, body)
    assert (error.trouble, error.retry_after) == (Trouble.TOO_LONG, None)
    assert "make the conversation shorter" in str(error)


PARAMETERS: list[tuple[int, Any, str]] = [
    (
        400,
        openai(
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
            code="unsupported_parameter",
            param="max_tokens",
        ),
        "max_tokens",
    ),
    (
        400,
        openai(
            "Unsupported value: 'temperature' does not support 0.2 with this model.",
            code="unsupported_value",
            param="temperature",
        ),
        "temperature",
    ),
    (
        400,
        openai(
            "Your organization must be verified to generate reasoning summaries.",
            code="unsupported_value",
            param="reasoning.summary",
        ),
        "reasoning.summary",
    ),
    (
        400,
        openai("Encrypted content is not supported with this model.", param="include"),
        "include",
    ),
    (400, openai("Unrecognized request argument supplied: stream_options"), "stream_options"),
    (400, openai("Unrecognized request argument supplied: seed"), "seed"),
    (400, openai("invalid temperature: only 1 is allowed for this model"), "temperature"),
    (400, anthropic("temperature: Extra inputs are not permitted"), "temperature"),
    (400, anthropic("`temperature` is deprecated for this model."), "temperature"),
    (400, anthropic("`temperature` and `top_p` cannot both be specified"), "temperature"),
    (
        400,
        anthropic('"thinking.type.enabled" is not supported for this model.'),
        "thinking.type.enabled",
    ),
    (400, anthropic("adaptive thinking is not supported on this model"), "thinking"),
    (400, anthropic("This model does not support the effort parameter."), "effort"),
    (
        400,
        anthropic(
            "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens"
        ),
        "max_tokens",
    ),
    (
        400,
        openai(
            "'max_tokens' or 'max_completion_tokens' is too large: 9000. This model's maximum "
            "context length is 8192 tokens and your request has 100 input tokens."
        ),
        "max_tokens",
    ),
    (
        422,
        {
            "object": "error",
            "message": {
                "detail": [
                    {
                        "type": "extra_forbidden",
                        "loc": ["body", "stream_options"],
                        "msg": "Extra inputs are not permitted",
                    }
                ]
            },
        },
        "stream_options",
    ),
    (400, {"detail": [{"loc": ["body", "seed"], "msg": "not permitted"}]}, "seed"),
    (400, openai('Invalid JSON payload received. Unknown name "seed": Cannot find field.'), "seed"),
    (
        400,
        {"error": "Model grok-4 does not support parameter reasoning_effort."},
        "reasoning_effort",
    ),
]


@pytest.mark.parametrize(("status", "body", "name"), PARAMETERS)
def test_a_field_that_is_not_taken_is_named(status: int, body: Any, name: str) -> None:
    error = refused(status, body)
    assert (error.trouble, error.parameter) == (Trouble.PARAMETER, name)
    assert f"does not take `{name}`" in str(error)
    assert error.retry_after is None


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "registry.ollama.ai/library/gemma:2b does not support tools"),
        (404, "No endpoints found that support tool use. Try disabling one."),
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser'),
        (400, "deepseek-reasoner does not support Function Calling"),
        (500, "tools param requires --jinja flag"),
        (400, "`tool calling` is not supported with this model"),
    ],
)
def test_a_model_without_tools_is_known(status: int, message: str) -> None:
    assert refused(status, openai(message)).trouble is Trouble.TOOLS


@pytest.mark.parametrize(
    ("status", "message", "every"),
    [
        (404, "No endpoints found that support image input", True),
        (500, "image input is not supported - hint: you may need to provide the mmproj", True),
        (400, "/models/m is not a multimodal model", True),
        (400, "unknown variant `image_url`, expected `text`", True),
        (400, "Could not process image", False),
        (400, "messages.0.content.0.image.source.base64: image exceeds 5 MB maximum", False),
        (400, "image dimensions exceed max allowed size: 8000 pixels", False),
    ],
)
def test_a_refused_image_is_known_and_whether_it_is_every_one(
    status: int, message: str, every: bool
) -> None:
    error = refused(status, openai(message))
    assert error.trouble is Trouble.IMAGE
    assert bool(error.parameter) == every


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (404, "The model `gpt-image-1` does not exist"),
        (400, "messages must alternate and include a user"),
        (400, "messages.2: `tool_use` ids were found without `tool_result` blocks"),
        (403, "This key may not use image models"),
        (400, "Invalid value for 'content': expected a string, got null."),
    ],
)
def test_what_another_request_would_not_mend_is_none_of_these(status: int, message: str) -> None:
    assert refused(status, openai(message)).trouble is Trouble.OTHER


def test_too_many_tools_do_not_mean_that_there_can_be_none() -> None:
    words = "Invalid 'tools': array too long. Expected an array with maximum length 128."
    assert refused(400, openai(words, param="tools")).trouble is Trouble.OTHER
    words = "Unsupported parameter: 'tools' is not supported with this model."
    assert refused(400, openai(words, param="tools")).trouble is Trouble.TOOLS


def test_a_model_that_is_not_there_is_told_as_such_whatever_its_name() -> None:
    error = refused(404, openai("The model `gpt-image-1` does not exist"))
    assert error.reason is Reason.MODEL_NOT_FOUND


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"retry-after": "7"}, limited("Try again in 20s."), 7.0),
        ({"retry-after": "172800"}, {}, 86_400.0),
        ({}, limited("Rate limit reached. Please try again in 1m26.4s. Visit …"), 86.4),
        ({}, limited("Please try again in 250ms."), 0.25),
        ({}, limited("Rate limit exceeded, retry after 5 seconds"), 5.0),
        (
            {},
            [
                {
                    "error": {
                        "code": 429,
                        "message": "You exceeded your current quota, check your plan and billing",
                        "status": "RESOURCE_EXHAUSTED",
                        "details": [
                            {"@type": "type.googleapis.com/google.rpc.QuotaFailure"},
                            {
                                "@type": "type.googleapis.com/google.rpc.RetryInfo",
                                "retryDelay": "34.5s",
                            },
                        ],
                    }
                }
            ],
            34.5,
        ),
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "1m0s",
                "x-ratelimit-remaining-tokens": "90",
                "x-ratelimit-reset-tokens": "6h",
            },
            {},
            60.0,
        ),
        ({"x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "1m"}, {}, 0.5),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "soon"}, {}, 0.5),
        ({}, limited("try again in a while"), 0.5),
    ],
)
def test_how_long_to_wait_is_found_wherever_it_is_said(
    headers: dict[str, str], body: Any, seconds: float
) -> None:
    error = refused(429, body, headers)
    assert error.trouble is Trouble.BUSY
    assert error.retry_after == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, openai("You exceeded your current quota", code="insufficient_quota")),
        (400, anthropic("Your credit balance is too low to access the API.")),
        (402, {"error": {"message": "Insufficient Balance"}}),
    ],
)
def test_without_credit_waiting_does_not_help(status: int, body: Any) -> None:
    error = refused(status, body)
    assert (error.trouble, error.retry_after) == (Trouble.OTHER, None)
    assert "no credit left" in str(error)


@pytest.mark.parametrize(
    ("error", "trouble"),
    [
        ({"type": "overloaded_error", "message": "Overloaded"}, Trouble.OVERLOADED),
        ({"type": "rate_limit_error", "message": "slow"}, Trouble.BUSY),
        ({"code": "context_length_exceeded", "message": "too much"}, Trouble.TOO_LONG),
        ({"code": "exceed_context_size_error", "type": "server_error"}, Trouble.TOO_LONG),
        ("just words", Trouble.OTHER),
    ],
)
def test_an_error_inside_an_answer_has_its_trouble_too(error: Any, trouble: Trouble) -> None:
    told = BORDER.complained(error)
    assert told.trouble is trouble
    assert (told.retry_after is not None) == (trouble in (Trouble.OVERLOADED, Trouble.BUSY))
