"""A tool of an MCP server, as every other tool is."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from tenuto.agent.mcp import message
from tenuto.agent.mcp.life import LoginNeeded, McpTrouble, ServerLife
from tenuto.agent.mcp.link import RequestRefused
from tenuto.agent.mcp.naming import tool_name
from tenuto.agent.tools.output import spilled
from tenuto.core.mcp import McpServer
from tenuto.core.question import MOST, Inquiry, Option
from tenuto.core.rule import Subject
from tenuto.ports.mcp import McpOffer
from tenuto.ports.model import ToolSpec
from tenuto.ports.tool import (
    GivenFile,
    Parallel,
    Place,
    ReplyKind,
    ToolFailed,
    ToolResult,
)

Reach = Callable[[], Awaitable[ServerLife]]
"""The server's life as it is when it is called: by then it may be over."""
NO_PARAMETERS = {"type": "object", "properties": {}}
SIGN_IN_SECONDS = 30.0
AGREE, DECLINE, VISITED = "Yes", "No", "I have been there"


class McpTool:
    """Implements `Tool`. A dead or slow server is a failed call, never a failed run."""

    def __init__(
        self, server: McpServer, offer: McpOffer, reach: Reach, output_characters: int
    ) -> None:
        self._server = server
        self._offer = offer
        self._reach = reach
        self._output_characters = output_characters
        self.changes = not (offer.only_looks and server.trust)
        self.parallel = Parallel.NEVER if self.changes else Parallel.LOOKING
        self.spec = ToolSpec(
            name=tool_name(server.name, offer.name),
            description=offer.about or f"{offer.name}, a tool of {server.name}.",
            parameters=_parameters(offer.parameters),
        )

    async def subject(self, arguments: dict[str, Any], place: Place) -> Subject:
        return Subject(tool=self.spec.name)

    async def run(self, arguments: dict[str, Any], place: Place) -> ToolResult:
        caller = PlaceCaller(place, self._server.name)
        try:
            done = await self._call(arguments, caller, place)
        except (McpTrouble, RequestRefused) as trouble:
            raise ToolFailed(f"{self._server.name}: {trouble}") from None
        text = done.text or ("(no output)" if not done.pictures else "")
        return ToolResult(
            text=spilled(text, self._output_characters, place),
            files=tuple(
                GivenFile(name=f"image-{index}", media_type=one.media_type, content=one.content)
                for index, one in enumerate(done.pictures, 1)
            ),
            failed=done.failed,
            details={"server": self._server.name, "tool": self._offer.name},
        )

    async def _call(
        self, arguments: dict[str, Any], caller: "PlaceCaller", place: Place
    ) -> message.Done:
        def order(number: int, key: int) -> message.Order:
            return message.CallTool(id=number, key=key, tool=self._offer.name, arguments=arguments)

        life = await self._reach()
        try:
            return await life.ask(order, caller)
        except LoginNeeded as needed:
            await caller.send_to(needed.url)
            await life.settled(SIGN_IN_SECONDS)
            return await life.ask(order, caller)


class PlaceCaller:
    """Implements `Caller`: asks whoever the run of a call can ask."""

    def __init__(self, place: Place, server: str) -> None:
        self._place = place
        self._server = server

    def progress(self, text: str) -> None:
        self._place.progress(text)

    async def ask(self, asks: message.Asks) -> dict[str, Any] | None:
        """In rounds of as many as can be asked together; what is passed over ends it."""
        if asks.url:
            return {} if await self._visits(f"{self._server}: {asks.text}", asks.url) else None
        if not asks.wanted:
            agreed = await self._chosen(f"{self._server}: {asks.text}", AGREE, DECLINE)
            return {} if agreed == AGREE else None
        answers: dict[str, Any] = {}
        for start in range(0, len(asks.wanted), MOST):
            wanted = asks.wanted[start : start + MOST]
            reply = await self._place.ask([_inquiry(self._server, asks.text, w) for w in wanted])
            if reply.kind is not ReplyKind.ANSWERED:
                return None
            answers |= {w.name: list(a) for w, a in zip(wanted, reply.answers, strict=False)}
        return answers

    async def send_to(self, url: str) -> None:
        """A person is asked to sign in there. Raises McpTrouble if nobody does."""
        if not await self._visits(f"{self._server} wants you to sign in.", url):
            raise McpTrouble("nobody has signed in to it")

    async def _visits(self, text: str, url: str) -> bool:
        return await self._chosen(f"{text}\n{url}", VISITED, DECLINE) == VISITED

    async def _chosen(self, text: str, *labels: str) -> str | None:
        options = tuple(Option(label=label) for label in labels)
        reply = await self._place.ask([Inquiry(question=text, options=options)])
        if reply.kind is not ReplyKind.ANSWERED or not reply.answers[0]:
            return None
        return reply.answers[0][0]


def _inquiry(server: str, text: str, wanted: message.Wanted) -> Inquiry:
    optional = "" if wanted.required else " (optional)"
    return Inquiry(
        question=f"{server}: {text}\n{wanted.text}{optional}",
        options=tuple(Option(label=choice) for choice in wanted.choices),
        multiple=wanted.multiple,
    )


def _parameters(given: dict[str, Any]) -> dict[str, Any]:
    """As the server describes them, if that is an object at all: providers refuse the rest."""
    if given.get("type") != "object":
        return NO_PARAMETERS
    try:
        msgspec.json.encode(given)
    except (TypeError, ValueError, RecursionError):
        return NO_PARAMETERS
    return given if "properties" in given else {**given, "properties": {}}
