"""What servers say, in our words: bounded, and without what only their protocol needs."""

import base64
import binascii
import json
from collections.abc import Iterable, Sequence
from typing import Any

import httpx2
import mcp_types as types
from mcp.client.auth import OAuthFlowError
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from tenuto.agent.mcp import message
from tenuto.ports.mcp import McpArgument, McpListing, McpOffer, McpPrompt, McpResource

TEXT_CHARACTERS = 10_000_000
ABOUT_CHARACTERS = 4_000
ERROR_CHARACTERS = 2_000
PICTURE_BYTES = 20_000_000
MOST_PICTURES = 10
MOST_TOOLS = 500
MOST_OTHERS = 1_000


def listing(
    tools: Sequence[types.Tool],
    prompts: Sequence[types.Prompt],
    resources: Sequence[types.Resource],
) -> McpListing:
    return McpListing(
        tools=tuple(_offer(tool) for tool in tools[:MOST_TOOLS]),
        prompts=tuple(_prompt(one) for one in prompts[:MOST_OTHERS]),
        resources=tuple(_resource(one) for one in resources[:MOST_OTHERS]),
    )


def done(number: int, result: types.CallToolResult) -> message.Done:
    text, pictures = _told(result.content)
    if not text and result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False)
    return message.Done(id=number, text=text, pictures=pictures, failed=bool(result.is_error))


def resource(number: int, result: types.ReadResourceResult) -> message.Done:
    """The first of it that has something in it: nearly all have one only."""
    for one in result.contents:
        kind = one.mime_type or ""
        match one:
            case types.TextResourceContents(text=text):
                content: bytes | None = text.encode(errors="replace")
                kind = kind or "text/plain"
            case types.BlobResourceContents(blob=blob):
                content = _bytes(blob)
        if content is None or len(content) > PICTURE_BYTES:
            raise MCPError(code=-32000, message="the resource is too large")
        return message.Done(id=number, media_type=kind, content=content)
    return message.Done(id=number, media_type="text/plain")


def prompt(number: int, result: types.GetPromptResult) -> message.Done:
    text, pictures = _told([one.content for one in result.messages])
    return message.Done(id=number, text=text, pictures=pictures)


def in_words(trouble: BaseException) -> str:
    """A sentence for people; never an address or a header, which may hold a key."""
    while isinstance(trouble, BaseExceptionGroup):
        trouble = trouble.exceptions[0]
    match trouble:
        case MCPError():
            said = trouble.error.message or "it refused, without a reason"
        case OAuthFlowError():
            said = f"signing in failed: {trouble}"
        case ValidationError():
            said = "it answered in a way that breaks the protocol"
        case httpx2.HTTPStatusError(response=response):
            said = f"it answered {response.status_code}"
        case httpx2.ConnectError() | ConnectionError():
            said = "it cannot be reached"
        case TimeoutError() | httpx2.TimeoutException():
            said = "it took too long"
        case _:
            said = f"it failed ({type(trouble).__name__})"
    return said[:ERROR_CHARACTERS]


def _told(content: Iterable[Any]) -> tuple[str, tuple[message.GivenImage, ...]]:
    texts: list[str] = []
    pictures: list[message.GivenImage] = []
    left = PICTURE_BYTES
    for one in content:
        match one:
            case types.TextContent(text=text):
                texts.append(text)
            case types.ImageContent(data=data, mime_type=kind):
                picture = _bytes(data)
                left -= len(picture or b"")
                if picture is None or len(pictures) >= MOST_PICTURES or left < 0:
                    texts.append("[an image that was left out]")
                else:
                    pictures.append(message.GivenImage(media_type=kind, content=picture))
            case types.AudioContent(mime_type=kind):
                texts.append(f"[a sound ({kind}) that was left out]")
            case types.ResourceLink(uri=uri, name=name):
                texts.append(f"[resource {name}: {uri}]")
            case types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, text=text)):
                texts.append(f"[resource {uri}]\n{text}")
            case types.EmbeddedResource(resource=inner):
                texts.append(f"[resource {inner.uri}, which is no text]")
    return "\n".join(texts)[:TEXT_CHARACTERS], tuple(pictures)


def _offer(tool: types.Tool) -> McpOffer:
    hints = tool.annotations
    return McpOffer(
        name=tool.name,
        about=(tool.description or tool.title or "")[:ABOUT_CHARACTERS],
        parameters=dict(tool.input_schema),
        only_looks=bool(hints and hints.read_only_hint),
    )


def _prompt(one: types.Prompt) -> McpPrompt:
    return McpPrompt(
        name=one.name,
        about=(one.description or one.title or "")[:ABOUT_CHARACTERS],
        arguments=tuple(
            McpArgument(name=a.name, about=a.description or "", required=bool(a.required))
            for a in one.arguments or ()
        ),
    )


def _resource(one: types.Resource) -> McpResource:
    return McpResource(
        uri=str(one.uri),
        name=one.title or one.name,
        about=(one.description or "")[:ABOUT_CHARACTERS],
        media_type=one.mime_type or "",
    )


def _bytes(data: str) -> bytes | None:
    try:
        content = base64.b64decode(data)
    except (ValueError, binascii.Error):
        return None
    return content if len(content) <= PICTURE_BYTES else None
