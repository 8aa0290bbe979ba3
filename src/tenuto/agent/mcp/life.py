"""The life of one server for one workspace: started when it is needed, ended when idle."""

import asyncio
import logging
import os
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from tenuto.agent.mcp import message
from tenuto.agent.mcp.link import Link, LinkLost, RequestRefused
from tenuto.agent.mcp.sheets import Sheets
from tenuto.agent.tools.processes.sandbox import Sandbox
from tenuto.agent.tools.processes.tree import Command
from tenuto.core.mcp import McpServer, McpState
from tenuto.core.value import Value
from tenuto.ports.mcp import McpReturn
from tenuto.ports.tool import ToolFailed

log = logging.getLogger(__name__)

START_SECONDS = 120.0
"""One that is fetched from a registry when it is first started takes its time."""
FOR_EVER_SECONDS = 10 * 365 * 86400.0
FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 300.0
SHORT_PAUSE_SECONDS = 5.0
"""A call waits for so long; with a longer pause before it, it fails at once."""
PASSED_ON = (
    *("HOME", "LOGNAME", "PATH", "SHELL", "USER", "LANG", "LC_ALL", "TZ"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE"),
)
"""All that a program gets of our environment: the rest is none of its business."""


class McpTrouble(Exception):
    """The server cannot be used now; the message says why."""


class LoginNeeded(McpTrouble):
    def __init__(self, url: str) -> None:
        super().__init__("somebody has to sign in to it")
        self.url = url


class Caller(Protocol):
    """Whose call it is: hears how it goes, and can ask a person."""

    def progress(self, text: str) -> None: ...

    async def ask(self, asks: message.Asks) -> dict[str, Any] | None: ...


class Ground(Value):
    """Where a server lives, and what it has from us."""

    folder: Path
    owner: str
    """Whose scratch folder its programs write in."""
    home: str
    """Our own address for those who come back from signing in."""
    patience: int
    idle_seconds: float


class ServerLife:
    """Implements `Hearer`."""

    def __init__(
        self,
        server: McpServer,
        ground: Ground,
        link: Link,
        sandbox: Sandbox,
        sheets: Sheets,
    ) -> None:
        self.server = server
        self.state = McpState.IDLE
        self.error: str | None = None
        self.login_url: str | None = None
        self.login_state: str | None = None
        self._ground = ground
        self._link = link
        self._sandbox = sandbox
        self._sheets = sheets
        self._key: int | None = None
        self._beginning: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._held = AsyncExitStack()
        self._callers: dict[int, Caller] = {}
        self._asking: set[asyncio.Task[None]] = set()
        self._limits: dict[int, asyncio.Timeout] = {}
        self._failures = 0
        self._not_before = 0.0
        self._idle: asyncio.TimerHandle | None = None

    async def ready(self) -> int:
        """Its connection, started now if it is not there. Raises McpTrouble."""
        tried = False
        while True:
            match self.state:
                case McpState.READY if self._key is not None:
                    return self._key
                case McpState.NEEDS_LOGIN if self.login_url is not None:
                    raise LoginNeeded(self.login_url)
                case McpState.FAILED if tried or self._pause > SHORT_PAUSE_SECONDS:
                    raise McpTrouble(self.error or "it cannot be used")
                case McpState.FAILED:
                    await asyncio.sleep(self._pause)
                    self._begin()
                    tried = True
                case McpState.IDLE:
                    self._begin()
                    tried = True
                case _:
                    self._changed.clear()
                    await self._changed.wait()

    @property
    def _pause(self) -> float:
        """Seconds until it is tried again."""
        return max(0.0, self._not_before - _now())

    async def settled(self, seconds: float) -> None:
        """Until it is ready, has failed or needs a person, or the time is over."""
        try:
            async with asyncio.timeout(seconds):
                await self.ready()
        except (TimeoutError, McpTrouble):
            return

    async def call(self, tool: str, arguments: dict[str, Any], caller: Caller) -> message.Done:
        """Raises McpTrouble and RequestRefused; a cancel reaches the server's handler."""

        def order(number: int, key: int) -> message.Order:
            return message.CallTool(id=number, key=key, tool=tool, arguments=arguments)

        return await self._request(order, caller)

    async def read(self, uri: str, caller: Caller) -> message.Done:
        return await self._request(
            lambda number, key: message.ReadResource(id=number, key=key, uri=uri), caller
        )

    async def prompt(self, name: str, arguments: dict[str, str], caller: Caller) -> message.Done:
        return await self._request(
            lambda number, key: message.GetPrompt(
                id=number, key=key, name=name, arguments=arguments
            ),
            caller,
        )

    def came_back(self, back: McpReturn) -> None:
        """A person has signed in, or says so: the host sees whether it is true."""
        if self._key is not None:
            self.login_url, self.login_state = None, None
            self._become(McpState.STARTING)
            self._link.tell(
                message.SignedIn(
                    key=self._key, code=back.code, state=back.state, issuer=back.issuer
                )
            )

    async def end(self) -> None:
        """Let it go, and wait until nothing of it is left."""
        if self._beginning is not None:
            self._beginning.cancel()
            await asyncio.wait({self._beginning})
        while self._key is not None:
            self._changed.clear()
            self._link.close(self._key)
            await self._changed.wait()
        await self._held.aclose()

    def hear(self, word: message.Words) -> None:
        match word:
            case message.Opened(listing=listing):
                self._failures, self.error = 0, None
                self._become(McpState.READY)
                self._sheets.offered(self.server, listing)
                self._watch_idle()
            case message.HungUp():
                # Whoever needs it now waits until it is gone, and starts it again.
                self._become(McpState.STARTING)
            case message.NeedsLogin(url=url, state=state):
                self.login_url, self.login_state = url, state
                self._become(McpState.NEEDS_LOGIN)
            case message.LoggedIn(login=login):
                self._sheets.signed_in(self.server, login)
            case message.Closed(error=error):
                self._over(error)
            case message.Progressed(id=number, text=text):
                if number in self._callers:
                    self._callers[number].progress(text)
            case message.Asks():
                task = asyncio.create_task(self._ask(word))
                self._asking.add(task)
                task.add_done_callback(self._asking.discard)

    def _begin(self) -> None:
        startable = (McpState.IDLE, McpState.FAILED)
        if self.state in startable and self._beginning is None and self._key is None:
            self.error = None
            self._become(McpState.STARTING)
            self._beginning = asyncio.create_task(self._start())
            self._beginning.add_done_callback(self._begun)

    async def _start(self) -> None:
        try:
            await self._held.aclose()
            self._key = await self._link.open(await self._spec(), self)
            async with asyncio.timeout(START_SECONDS):
                while self.state is McpState.STARTING:
                    self._changed.clear()
                    await self._changed.wait()
        except (McpTrouble, ToolFailed) as trouble:
            self._over(str(trouble))
        except TimeoutError:
            self.error = f"it did not answer within {START_SECONDS:g} seconds"
            if self._key is not None:
                self._link.close(self._key)

    def _begun(self, task: "asyncio.Task[None]") -> None:
        self._beginning = None
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("an MCP server cannot be started", exc_info=error)
            self._over("it could not be started because of an error in the server")

    async def _spec(self) -> message.Program | message.Address:
        server, ground = self.server, self._ground
        if server.url:
            login = (await self._sheets.of(server)).login
            return message.Address(
                url=server.url, headers=server.headers, home=ground.home, login=login
            )
        environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        command = Command(
            arguments=(_program(server.command, ground.folder, environment), *server.args),
            folder=str(ground.folder),
            environment={**environment, **server.env, "PWD": str(ground.folder)},
            seconds=FOR_EVER_SECONDS,
            patience=ground.patience,
        )
        around = self._sandbox.around(command, ground.folder, ground.owner)
        return message.Program(command=await self._held.enter_async_context(around))

    async def _request(
        self, order: Callable[[int, int], message.Order], caller: Caller
    ) -> message.Done:
        key = await self.ready()
        number: int | None = None

        def begun(given: int) -> None:
            nonlocal number
            number = given
            self._callers[given], self._limits[given] = caller, limit
            self._watch_idle()

        try:
            async with asyncio.timeout(self.server.timeout) as limit:
                return await self._link.ask(key, lambda given: order(given, key), begun)
        except TimeoutError:
            words = f"it did not answer within {self.server.timeout:g} seconds"
            raise RequestRefused(words) from None
        except LinkLost:
            raise McpTrouble(self.error or "it has ended") from None
        finally:
            if number is not None:
                del self._callers[number], self._limits[number]
            self._watch_idle()

    async def _ask(self, asks: message.Asks) -> None:
        """Older servers do not say which call they ask for: the last one, then."""
        number = asks.id if asks.id in self._callers else next(reversed(self._callers), None)
        answers: dict[str, Any] | None = None
        if number is not None:
            async with self._clock_stands(number):
                answers = await self._callers[number].ask(asks)
        self._link.tell(message.Answered(ask=asks.ask, answers=answers))

    @asynccontextmanager
    async def _clock_stands(self, number: int) -> AsyncIterator[None]:
        limit = self._limits[number]
        until = limit.when()
        left = None if until is None else until - _now()
        limit.reschedule(None)
        try:
            yield
        finally:
            if left is not None and number in self._limits:
                limit.reschedule(_now() + left)

    def _over(self, error: str | None) -> None:
        self._key = None
        self.login_url, self.login_state = None, None
        self.error = error or self.error
        if self.state is McpState.STARTING and self.error is None:
            self.error = "it ended before it was ready"
        if self.error is None:
            return self._become(McpState.IDLE)
        self._failures += 1
        pause = FIRST_PAUSE_SECONDS * 2 ** (self._failures - 1)
        self._not_before = _now() + min(pause, LONGEST_PAUSE_SECONDS)
        self._become(McpState.FAILED)

    def _become(self, state: McpState) -> None:
        self.state = state
        self._changed.set()

    def _watch_idle(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        if not self._callers and self._key is not None:
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(self._ground.idle_seconds, self._rest)

    def _rest(self) -> None:
        if not self._callers and self._key is not None:
            self._link.close(self._key)


def _program(command: str, folder: Path, environment: Mapping[str, str]) -> str:
    where = str(folder / command) if "/" in command else command
    found = shutil.which(where, path=environment.get("PATH", os.defpath))
    if found is None:
        raise McpTrouble(f"there is no program {command!r} on this machine")
    return os.path.abspath(found)


def _now() -> float:
    return asyncio.get_running_loop().time()
