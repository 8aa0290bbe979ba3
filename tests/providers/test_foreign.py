"""What a provider fills in is brought into a range before anything behind the border sees it."""

import base64
import json
from typing import Any
from urllib.parse import quote

import pytest

from tenuto.agent.providers.connection.errors import Border
from tenuto.agent.providers.wires.anthropic_answer import AnthropicAnswer
from tenuto.agent.providers.wires.chat_answer import ChatAnswer
from tenuto.core.run import Reason
from tenuto.ports.model import CallStarted, Piece, ProviderError, UsagePiece
from tests.providers.made import SEALER

BORDER = Border("house", secret="")
KEY = "sk/very+secret=key?0123456789"
NESTED = b"[" * 100_000 + b"]" * 100_000


def encoded(event: Any) -> bytes:
    return event if isinstance(event, bytes) else json.dumps(event).encode()


def heard(wire: str, *events: Any) -> list[Piece]:
    """The pieces of these events. Raises what the provider did wrong."""
    answer = ChatAnswer(BORDER, SEALER) if wire == "openai" else AnthropicAnswer(BORDER, SEALER)
    pieces = answer.feed([encoded(event) for event in events])
    if answer.error is not None:
        raise answer.error
    return pieces


def counted(wire: str, asked: Any, said: Any) -> tuple[int, int] | None:
    """Input and output as the last report has them; None if there was none."""
    if wire == "openai":
        event: Any = {"usage": {"prompt_tokens": asked, "completion_tokens": said}}
    else:
        usage = {"input_tokens": asked, "output_tokens": said}
        event = {"type": "message_delta", "usage": usage}
    reports = [piece for piece in heard(wire, event) if isinstance(piece, UsagePiece)]
    if not reports:
        return None
    return reports[-1].usage.input_tokens, reports[-1].usage.output_tokens


@pytest.mark.guarantee("E1")
@pytest.mark.parametrize("wire", ["openai", "anthropic"])
@pytest.mark.parametrize(
    ("asked", "said", "kept"),
    [
        (5, 7, (5, 7)),
        (2**63, 10**300, (2**53, 2**53)),
        (-5, -(2**70), (0, 0)),
        (1.5, 1e300, (1, 2**53)),
        (True, 3, (0, 3)),
        ("12", 3, (0, 3)),
        ([], {}, None),
        (None, None, None),
    ],
)
def test_a_count_of_tokens_has_a_range_on_every_wire(
    wire: str, asked: Any, said: Any, kept: tuple[int, int] | None
) -> None:
    assert counted(wire, asked, said) == kept


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_numbers_that_are_none_do_not_end_an_answer(wire: str) -> None:
    usage = b'{"prompt_tokens":NaN,"completion_tokens":Infinity,"input_tokens":NaN,"output_tokens":Infinity}'
    (piece,) = heard(wire, b'{"type":"message_delta","usage":' + usage + b"}")
    assert isinstance(piece, UsagePiece)
    assert (piece.usage.input_tokens, piece.usage.output_tokens) == (0, 2**53)


def call(wire: str, *, name: str, call_id: str) -> CallStarted:
    if wire == "openai":
        function = {"name": name, "arguments": "{}"}
        calls = [{"index": 0, "id": call_id, "function": function}]
        event: Any = {"choices": [{"delta": {"tool_calls": calls}}]}
    else:
        block = {"type": "tool_use", "id": call_id, "name": name}
        event = {"type": "content_block_start", "index": 0, "content_block": block}
    started = heard(wire, event)[0]
    assert isinstance(started, CallStarted)
    return started


@pytest.mark.guarantee("E1")
@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_a_calls_name_and_id_can_always_be_stored_and_sent_back(wire: str) -> None:
    odd = call(wire, name="shell\ud800", call_id="c\udc00")
    assert (odd.name, odd.id) == ("shell\ufffd", "")
    long = call(wire, name="n" * 100_000, call_id="i" * 100_000)
    assert (len(long.name), long.id) == (256, "")
    sound = call(wire, name="shell", call_id="call-1:x")
    assert (sound.name, sound.id) == ("shell", "call-1:x")


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
@pytest.mark.parametrize(
    "event",
    [
        NESTED,
        b'{"type":"error","error":' + NESTED + b"}",
        b'{"choices":[{"delta":{"content":' + NESTED + b"}}],"
        b'"type":"content_block_start","content_block":{"type":"tool_use","input":'
        + NESTED
        + b"}}",
    ],
    ids=["an event", "an error", "a field"],
)
def test_what_is_nested_too_deeply_is_the_providers_error(wire: str, event: bytes) -> None:
    with pytest.raises(ProviderError, match="cannot be read") as caught:
        heard(wire, event)
    assert caught.value.reason is Reason.PROVIDER_ERROR


def test_words_within_words_within_words_are_the_providers_error() -> None:
    content = b'{"text":' * 600 + b'"x"' + b"}" * 600
    with pytest.raises(ProviderError, match="nested too deeply"):
        heard("openai", b'{"choices":[{"delta":{"content":' + content + b"}}]}")


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_a_body_nested_too_deeply_is_the_providers_error(wire: str) -> None:
    answer = ChatAnswer(BORDER, SEALER) if wire == "openai" else AnthropicAnswer(BORDER, SEALER)
    with pytest.raises(ProviderError, match="cannot be read"):
        answer.whole(NESTED)


def test_arguments_that_come_before_their_name_are_not_kept_without_end() -> None:
    piece = {
        "choices": [
            {"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "x" * 1000}}]}}
        ]
    }
    pieces = heard("openai", *[piece] * 100)
    # Long before the end of the answer the call has begun, and its arguments are passed on.
    assert isinstance(pieces[0], CallStarted) and pieces[0].name == ""
    assert len(pieces) == 101


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_calls_without_end_are_refused(wire: str) -> None:
    def event(n: int) -> Any:
        if wire == "openai":
            return {"choices": [{"delta": {"tool_calls": [{"index": n}]}}]}
        block = {"type": "tool_use", "id": f"t{n}", "name": "x"}
        return {"type": "content_block_start", "index": n, "content_block": block}

    heard(wire, *map(event, range(1024)))
    with pytest.raises(ProviderError, match="more than 1024 tool calls") as caught:
        heard(wire, *map(event, range(1025)))
    assert caught.value.reason is Reason.TOO_LARGE


def test_calls_of_one_block_number_are_calls_of_their_own() -> None:
    block = {"type": "tool_use", "id": "t", "name": "x"}
    event = {"type": "content_block_start", "index": 1, "content_block": block}
    started = [p for p in heard("anthropic", event, event) if isinstance(p, CallStarted)]
    assert [piece.index for piece in started] == [0, 1]


def told(message: str, *, secret: str = KEY) -> str:
    return str(Border("house", secret=secret).complained({"message": message}))


@pytest.mark.failure(49)
@pytest.mark.parametrize("before", ["", "a", "ab", "user:"])
def test_no_spelling_of_the_key_is_shown(before: str) -> None:
    for text in (
        before + KEY,
        quote(before + KEY, safe=""),
        quote(before + KEY),
        base64.b64encode(f"{before}{KEY}:more".encode()).decode(),
        base64.urlsafe_b64encode(f"{before}{KEY}".encode()).decode(),
    ):
        shown = told(f"cannot use {text} here")
        assert "***" in shown and "here" in shown
        # Not even a third of it.
        assert not any(text[n : n + 10] in shown for n in range(len(before) + 4, len(text) - 14))


@pytest.mark.parametrize("key", ["x", "none", "ollama"])
def test_a_key_that_is_a_short_word_does_not_spoil_other_words(key: str) -> None:
    assert told("You exceeded nonesuch ollamas", secret=key).endswith(
        "You exceeded nonesuch ollamas"
    )
    assert told(f"wrong key: {key}!", secret=key).endswith("wrong key: ***!")


def test_an_errors_words_are_whole_and_not_too_many() -> None:
    assert told("a\ud83db").endswith(": a\ufffdb")
    assert len(told("x" * 10**6)) < 700


@pytest.mark.parametrize(
    "error",
    [
        {"message": {"a": ["\ud800"]}},
        {"message": "no", "code": 10**400, "type": [[]]},
        {"message": "no", "code": {"a": 1}, "type": True},
        {"message": "no", "code": True},
        [["x"]],
        5,
    ],
)
def test_an_error_of_any_shape_is_told(error: Any) -> None:
    told = str(BORDER.complained(error))
    assert told.startswith("house broke off with an error")
    told.encode()


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "nan"}, 0.5),
        ({"retry-after-ms": "inf"}, 86_400.0),
        ({"retry-after-ms": "-inf"}, 0.0),
        ({"retry-after": "9" * 60_000}, 86_400.0),
        ({"retry-after": "²"}, 0.5),
        ({"retry-after": "Mon, 01 Jan 99999 00:00:00 GMT"}, 0.5),
        ({"retry-after": "Mon, 01 Jan 9999 00:00:00 GMT"}, 86_400.0),
    ],
)
def test_the_time_to_wait_is_one_that_can_be_waited_for(
    headers: dict[str, str], seconds: float
) -> None:
    assert BORDER.refused(429, headers, b"").retry_after == seconds
