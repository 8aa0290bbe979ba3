"""All dealings with one server, from its first word to its last."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.session import IncomingMessage
from mcp.shared.exceptions import MCPError

from tenuto import __version__
from tenuto.agent.mcp import message
from tenuto.agent.mcp.host import eliciting, telling
from tenuto.agent.mcp.host.address import reaching
from tenuto.agent.mcp.host.program import Ended, speaking
from tenuto.agent.mcp.host.signing_in import SigningIn
from tenuto.agent.mcp.message import Progressed
from tenuto.ports.mcp import McpListing

MOST_PAGES = 50
FORGOTTEN = "Session terminated"
"""What the SDK says where a server no longer knows its session: only a new one helps."""

Request = message.CallTool | message.ReadResource | message.GetPrompt
Say = Callable[[message.HostWord], None]
Ask = Callable[[int, message.Asks], Awaitable[dict[str, Any] | None]]


class Dealing:
    def __init__(
        self, key: int, server: message.Program | message.Address, say: Say, ask: Ask
    ) -> None:
        self._key = key
        self._server = server
        self._say = say
        self._ask = ask
        self._client: Client | None = None
        self._changed = asyncio.Event()
        self._ended = Ended()
        self._login = (
            SigningIn(key, server, say, self._changed.set)
            if isinstance(server, message.Address)
            else None
        )

    async def live(self) -> str | None:
        """Until it is cancelled or the server ends; why it ended."""
        ended = self._ended
        transport = (
            speaking(self._server.command, ended)
            if isinstance(self._server, message.Program)
            else reaching(self._server, self._login)
        )
        client = Client(
            transport,
            elicitation_callback=self._elicit,
            message_handler=self._hear,
            client_info=types.Implementation(name="tenuto", version=__version__),
            cache=None,
        )
        try:
            async with client:
                self._client = client
                self._say(message.Opened(key=self._key, listing=await self._listing()))
                async with self._listening(client):
                    await self._until(ended)
        except Exception as trouble:  # noqa: BLE001
            # Whatever a library or a stranger did. A program that ended says more about why.
            return await ended.words() or telling.in_words(trouble)
        finally:
            self._client = None
        return await ended.words()

    async def do(self, order: Request) -> message.Done:
        try:
            return await self._do(order)
        except MCPError as trouble:
            if trouble.error.message == FORGOTTEN:
                self._ended.hang_up("it has forgotten us")
            raise
        except httpx2.TransportError:
            self._ended.hang_up("it cannot be reached")
            raise

    async def _do(self, order: Request) -> message.Done:
        match order:
            case message.CallTool():
                return await self._call(order)
            case message.ReadResource(uri=uri):
                read = await self._now().read_resource(uri, cache_mode="bypass")
                return telling.resource(order.id, read)
            case message.GetPrompt(name=name, arguments=arguments):
                prompt = await self._now().get_prompt(name, arguments)
                return telling.prompt(order.id, prompt)

    async def _call(self, order: message.CallTool) -> message.Done:
        async def progress(progress: float, total: float | None, message: str | None) -> None:
            text = message or (f"{progress:g} of {total:g}" if total else f"{progress:g}")
            self._say(Progressed(id=order.id, text=text))

        result = await self._now().call_tool(
            order.tool, order.arguments, progress_callback=progress
        )
        return telling.done(order.id, result)

    def signed_in(self, order: message.SignedIn) -> None:
        if self._login is not None:
            self._login.came_back(order)

    def _now(self) -> Client:
        if self._client is None:
            raise MCPError(code=-32000, message="The server is not ready.")
        return self._client

    async def _until(self, ended: Ended) -> None:
        """Tell each time what it offers now, until the server ends."""
        over = asyncio.ensure_future(ended.hung_up.wait())
        try:
            while not over.done():
                changed = asyncio.ensure_future(self._changed.wait())
                try:
                    await asyncio.wait({over, changed}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    changed.cancel()
                if self._changed.is_set() and not over.done():
                    self._changed.clear()
                    self._say(message.Opened(key=self._key, listing=await self._listing()))
            self._say(message.HungUp(key=self._key))
        finally:
            over.cancel()

    @asynccontextmanager
    async def _listening(self, client: Client) -> AsyncIterator[None]:
        """Newer servers tell of changes only to who listens."""
        task = asyncio.create_task(self._listen(client))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait({task})

    async def _listen(self, client: Client) -> None:
        # Nothing that a server does to this may end the dealing: it only hears of changes later.
        with suppress(Exception):
            async with client.listen(
                tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
            ) as events:
                async for _ in events:
                    self._changed.set()

    async def _hear(self, message: IncomingMessage) -> None:
        if isinstance(
            message,
            types.ToolListChangedNotification
            | types.PromptListChangedNotification
            | types.ResourceListChangedNotification,
        ):
            self._changed.set()

    async def _listing(self) -> McpListing:
        client = self._now()
        has = client.server_capabilities
        tools = await _all(client.list_tools, "tools") if has.tools else []
        prompts = await _all(client.list_prompts, "prompts") if has.prompts else []
        resources = await _all(client.list_resources, "resources") if has.resources else []
        return telling.listing(tools, prompts, resources)

    async def _elicit(
        self, context: object, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        answers = await self._ask(self._key, eliciting.asked(params))
        return eliciting.answered(params, answers)


async def _all(ask: Callable[..., Awaitable[Any]], name: str) -> list[Any]:
    """Every page of a list, within reason."""
    found: list[Any] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await ask(cursor=cursor)
        found += getattr(page, name)
        cursor = page.next_cursor
        if cursor is None:
            break
    return found
