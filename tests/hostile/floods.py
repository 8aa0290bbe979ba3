"""Answers without end, and answers that are kept open after their end."""

import gzip
import json
import zlib

from tests.hostile.http import CHUNKED
from tests.hostile.shape import (
    EVENTS,
    JSON,
    SAID,
    STOPPED,
    Shape,
    closing,
    event,
    head,
    opening,
    stream,
    text_block,
    tool_block,
    tool_call,
)

WORDS = "word " * 200
COMMENT = b": still here\n\n"


def floods() -> list[Shape]:
    return [*_openai(), *_anthropic(), *_framing(), *_packed(), *_kept_open()]


def _openai() -> list[Shape]:
    thought = {"choices": [{"delta": {"reasoning": WORDS}}]}
    begun, unnamed = tool_call(), tool_call(function={"arguments": WORDS}, id="")
    more = tool_call(function={"arguments": WORDS}, id=None)
    both = event({"choices": [{"delta": {"content": "a"}}]}) + event(
        {"choices": [{"delta": {"reasoning": "b"}}]}
    )
    again = {
        "text": event({"choices": [{"delta": {"content": WORDS}}]}) * 50,
        "single letters": event({"choices": [{"delta": {"content": "a"}}]}) * 200,
        "reasoning": event(thought) * 50,
        "one part after another": both * 200,
        "arguments": event(more) * 50,
        "arguments without a name": event(unnamed) * 50,
        "usage": event({"usage": {"prompt_tokens": 1}}) * 500,
    }
    ends = {
        "a line": b"x" * 65536,
        "data lines": b"data: x\n" * 8192,
        "empty data lines": b"data:\n" * 8192,
    }
    shapes = [Shape(f"openai: endless {n}", "openai", stream(begun), a) for n, a in again.items()]
    shapes += [Shape(f"openai: endless {n}", "openai", stream(SAID), a) for n, a in ends.items()]
    return [
        *shapes,
        Shape("openai: endless nothings", "openai", stream(SAID), b"data: {}\n\n" * 1000, 0.01),
        Shape("openai: endless comments", "openai", stream(SAID), COMMENT * 100, 0.01),
        Shape("openai: one piece without end", "openai", head(headers=JSON), b" " * 65536),
        Shape("openai: silence", "openai", stream(SAID), held=True),
        Shape("openai: silence at once", "openai", b"", held=True),
    ]


def _anthropic() -> list[Shape]:
    partial = {"type": "input_json_delta", "partial_json": WORDS}
    again = {
        "text": event(text_block(WORDS)) * 50,
        "thinking": event({"type": "content_block_delta", "index": 0, "delta": {"thinking": WORDS}})
        * 50,
        "arguments": event({"type": "content_block_delta", "index": 1, "delta": partial}) * 50,
        "blocks": event(
            {
                "type": "content_block_start",
                "index": 5,
                "content_block": {"type": "text", "text": "a"},
            }
        )
        * 200,
        "half characters": event(text_block("\ud83d", index=7)) * 200,
    }
    begun = stream(*opening(), tool_block())
    return [
        *(Shape(f"anthropic: endless {n}", "anthropic", begun, a) for n, a in again.items()),
        Shape("anthropic: endless pings", "anthropic", begun, event({"type": "ping"}) * 100, 0.01),
        Shape("anthropic: silence", "anthropic", begun, held=True),
    ]


def _framing() -> list[Shape]:
    first = event(SAID)
    chunk = b"%x\r\n%b\r\n" % (len(first), first)
    return [
        Shape(f"openai: endless {name}", "openai", start, again)
        for name, start, again in (
            ("head", b"HTTP/1.1 200 OK\r\n", b"a: b\r\n" * 1000),
            ("header", b"HTTP/1.1 200 OK\r\na: ", b"b" * 65536),
            ("first line", b"HTTP/1.1 200 ", b"b" * 65536),
            ("early answers", b"", b"HTTP/1.1 100 Continue\r\na: b\r\n\r\n" * 500),
            ("trailers", head(headers=CHUNKED) + chunk + b"0\r\n", b"a: b\r\n" * 5000),
            ("trailer", head(headers=CHUNKED) + chunk + b"0\r\na: ", b"b" * 65536),
            ("chunk size", head(headers=CHUNKED) + chunk, b"0" * 65536),
            ("chunk extension", head(headers=CHUNKED) + chunk + b"5;", b"a=b;" * 10_000),
            ("zero bytes", b"", b"\0" * 65536),
        )
    ] + [
        Shape("openai: endless error", "openai", head(status="400 No", headers=JSON), b"x" * 65536),
        Shape("openai: a held error", "openai", head(status="400 No", headers=JSON), held=True),
    ]


def _packed() -> list[Shape]:
    """A little that unpacks to very much."""
    said = event({"choices": [{"delta": {"content": WORDS}}]})
    zipped = head(headers=EVENTS + b"Content-Encoding: gzip\r\n")
    deflated = head(headers=EVENTS + b"Content-Encoding: deflate\r\n")
    return [
        Shape("openai: a bomb of text", "openai", zipped + gzip.compress(said * 20_000)),
        Shape("openai: a bomb of a line", "openai", zipped + gzip.compress(b"x" * 60_000_000, 6)),
        Shape("openai: a deflated bomb", "openai", deflated + zlib.compress(said * 20_000)),
        Shape(
            "openai: a bomb in one piece",
            "openai",
            head(headers=JSON + b"Content-Encoding: gzip\r\n")
            + gzip.compress(b" " * 60_000_000, 6),
        ),
    ]


def _kept_open() -> list[Shape]:
    finished = stream(SAID, STOPPED)
    over = stream(*opening(), text_block("Hi"), closing()[0])
    usage = json.dumps({"choices": [], "usage": {"prompt_tokens": 7}}).encode()
    return [
        Shape("openai: held after the end", "openai", finished, held=True),
        Shape("openai: comments after the end", "openai", finished, COMMENT, 0.5),
        Shape("openai: usage after the end", "openai", finished, event(usage), 0.2),
        Shape("openai: a flood after the end", "openai", finished, COMMENT * 5000),
        Shape("anthropic: held after the end", "anthropic", over, held=True),
        Shape("anthropic: pings after the end", "anthropic", over, event({"type": "ping"}), 0.5),
    ]
