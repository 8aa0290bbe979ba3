"""Answers that are odd as HTTP, as text, or in how they end."""

import gzip
import json

from tests.hostile.shape import (
    EVENTS,
    JSON,
    SAID,
    STOPPED,
    Shape,
    answered,
    event,
    head,
    nested,
    on_both,
    opening,
    stream,
    text_block,
)

CHUNKED = EVENTS + b"Transfer-Encoding: chunked\r\n"
STATUSES = (
    "101 Switching Protocols",
    "201 Created",
    "204 No Content",
    "206 Partial Content",
    "301 Moved",
    "302 Found",
    "304 Not Modified",
    "307 Temporary Redirect",
    "400 Bad Request",
    "401 Unauthorized",
    "402 Payment Required",
    "403 Forbidden",
    "404 Not Found",
    "413 Too Large",
    "418 Teapot",
    "422 Unprocessable",
    "599 Odd",
    "999 Odder",
)
"""None of them is tried again, so the campaign stays short."""
BODIES = {
    "nothing": b"",
    "half a character": b'{"error":{"message":"\\ud83d","code":"\\udc00","type":"\\ud800"}}',
    "no UTF-8": b'{"error":{"message":"\xff\xfe\x80"}}',
    "nested": b'{"error":' + nested(5000) + b"}",
    "numbers": b'{"error":{"message":1,"code":' + b"9" * 400 + b',"type":[{}]}}',
    "a page": b"<html><body>\xff</body></html>",
    "much": b"z" * 300_000,
}


def odd_http() -> list[Shape]:
    return [*_errors(), *_heads(), *_bodies(), *_texts(), *_waits()]


def _errors() -> list[Shape]:
    shapes = []
    for number, status in enumerate(STATUSES):
        for what, body in BODIES.items():
            # Each body with every second status: enough of both, on either wire.
            if (number + len(what)) % 2:
                continue
            wire = "openai" if number % 4 < 2 else "anthropic"
            headers = JSON + b"Location: http://127.0.0.1:1/\r\n"
            start = head(status=status, headers=headers) + body
            shapes.append(Shape(f"{wire}: {status} with {what}", wire, start))
    return shapes


def _waits() -> list[Shape]:
    """What a provider may ask for before the request is made again; small, so that we can wait."""
    return [
        Shape(
            f"openai: come back after {said!r}",
            "openai",
            head(status="429 Slow Down", headers=b"Retry-After-Ms: " + said + b"\r\n"),
        )
        for said in (b"nan", b"-inf", b"-1", b"\xff", b"1e-400", b"soon", b"0x10", b" " * 9000)
    ]


def _heads() -> list[Shape]:
    whole = answered("openai", SAID)
    heads = {
        "no HTTP": b"SSH-2.0-OpenSSH_9.2\r\n",
        "nothing at all": b"",
        "zero bytes": b"\0" * 1000,
        "half a head": b"HTTP/1.1 200 OK\r\nConte",
        "a version": b"HTTP/9.9 200 OK\r\n\r\n",
        "a status that is none": b"HTTP/1.1 abc OK\r\n\r\n",
        "a status too long": b"HTTP/1.1 99999999999 OK\r\n\r\n",
        "a head of zero bytes": b"HTTP/1.1 200 OK\r\na: \0\r\n\r\n",
        "two lengths": head(headers=EVENTS + b"Content-Length: 5\r\nContent-Length: 6\r\n")
        + b"hello!",
        "a negative length": head(headers=EVENTS + b"Content-Length: -5\r\n") + b"hello",
        "a huge length": head(headers=EVENTS + b"Content-Length: 99999999999999999999\r\n"),
        "a short length": head(headers=EVENTS + b"Content-Length: 5\r\n") + whole,
        "length and chunks": head(headers=CHUNKED + b"Content-Length: 5\r\n") + b"0\r\n\r\n",
        "a bad chunk": head(headers=CHUNKED) + b"zz\r\nhello\r\n",
        "a huge chunk": head(headers=CHUNKED) + b"ffffffffffffffff\r\nhello",
        "an unknown coding": head(headers=EVENTS + b"Transfer-Encoding: \xff\r\n") + b"hello",
        "an unknown compression": head(headers=EVENTS + b"Content-Encoding: \xff\r\n") + b"hello",
        "a bad compression": head(headers=EVENTS + b"Content-Encoding: gzip\r\n") + b"hello",
        "a type that is none": head(headers=b"Content-Type: \xff/\xfe; charset=\xfd\r\n") + whole,
        "no type": head(headers=b"") + event(SAID) + event(STOPPED),
        "a page": head(headers=b"Content-Type: text/html\r\n") + b"<html>",
        "an upgrade": head(headers=EVENTS + b"Connection: upgrade\r\nUpgrade: x\r\n") + b"hello",
        "many early answers": b"HTTP/1.1 100 Continue\r\n\r\n" * 50 + whole,
        "an early answer and no other": b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n",
    }
    return [Shape(f"openai: {name}", "openai", start) for name, start in heads.items()]


def _bodies() -> list[Shape]:
    """Answers in one piece, though a stream was asked for."""
    bodies = {
        "nothing": b"",
        "a number": b"5",
        "a list": b"[]",
        "a word": b'"x"',
        "not JSON": b"{",
        "nested": nested(100_000),
        "nested content": b'{"choices":[{"message":{"content":' + nested(700) + b'}}],"content":5}',
        "no choice": b'{"choices":[]}',
        "half a character": json.dumps(
            {
                "choices": [{"message": {"content": "\ud83d"}, "finish_reason": "stop"}],
                "content": [{"type": "text", "text": "\ud83d"}],
                "stop_reason": "end_turn",
            }
        ).encode(),
        "an error": b'{"error":{"message":"\\ud83d"}}',
    }
    return [
        shape
        for name, body in bodies.items()
        for shape in on_both(f"one piece of {name}", lambda _, body=body: head(headers=JSON) + body)  # type: ignore[misc]
    ]


def _texts() -> list[Shape]:
    """Events whose bytes are no text, no JSON, or too deep; and compressed ones."""
    blocks = b'{"choices":[{"delta":{"content":' + b'{"text":' * 800 + b"1" + b"}" * 800 + b"}}]}"
    odd = {
        "bad UTF-8": b'{"choices":[{"delta":{"content":"\xff\x80"}}]}',
        "half of UTF-8": b'{"choices":[{"delta":{"content":"\xf0\x9f"}}]}',
        "a zero byte": b'{"choices":[{"delta":{"content":"\0"}}]}',
        "no JSON": b"hello",
        "half of JSON": b'{"choices":[',
        "nested": nested(100_000),
        "nested a little": nested(900),
        "nested blocks": blocks,
        "nested arguments": b'{"choices":[{"delta":{"tool_calls":[{"function":{"name":"todo",'
        b'"arguments":' + nested(900) + b"}}]}}]}",
        "a nested error": b'{"type":"error","error":{"message":' + nested(900) + b"}}",
        "a nested code": b'{"type":"error","error":{"code":' + nested(900) + b"}}",
        "a number without end": b'{"usage":{"prompt_tokens":' + b"9" * 5000 + b"}}",
        "a float without end": b'{"usage":{"prompt_tokens":1e999,"completion_tokens":-1e999}}',
        "no number": b'{"usage":{"prompt_tokens":NaN,"completion_tokens":Infinity}}',
        "empty": b"{}",
    }
    shapes = [
        shape
        for name, data in odd.items()
        for shape in on_both(f"an event: {name}", lambda wire, data=data: answered(wire, data))  # type: ignore[misc]
    ]
    packed = gzip.compress(answered("openai", SAID).split(b"\r\n\r\n", 1)[1])
    zipped = head(headers=EVENTS + b"Content-Encoding: gzip\r\n")
    return [
        *shapes,
        Shape("openai: compressed", "openai", zipped + packed),
        Shape("openai: compressed, cut", "openai", zipped + packed[:-12]),
        Shape("openai: rubbish after the compressed", "openai", zipped + packed + b"z" * 100_000),
        Shape("openai: no end", "openai", stream(SAID)),
        Shape("anthropic: no end", "anthropic", stream(*opening(), text_block("Hi"))),
        Shape("openai: an end and no answer", "openai", stream(b"[DONE]")),
        Shape("anthropic: an end and no answer", "anthropic", stream({"type": "message_stop"})),
    ]
