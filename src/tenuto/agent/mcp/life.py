"""The life of one server for one workspace: started when it is needed, ended when idle."""

import asyncio
import logging
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path

from tenuto.agent.mcp import message
from tenuto.agent.mcp.calls import Caller, Calls
from tenuto.agent.mcp.link import Link, LinkLost, RequestRefused
from tenuto.agent.mcp.sheets import Sheets
from tenuto.agent.tools.processes.environment import without_secrets
from tenuto.agent.tools.processes.sandbox import Sandbox
from tenuto.agent.tools.processes.tree import Command
from tenuto.core.mcp import McpServer, McpState
from tenuto.core.value import Value
from tenuto.ports.mcp import McpReturn
from tenuto.ports.tool import ToolFailed

log = logging.getLogger(__name__)

START_SECONDS = 120.0
"""One that is fetched from a registry when it is first started takes its time."""
END_SECONDS = 8.0
FOR_EVER_SECONDS = 10 * 365 * 86400.0
FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 300.0
SHORT_PAUSE_SECONDS = 5.0
"""A call waits for so long; with a longer pause before it, it fails at once."""
SECRET_CHARACTERS = 6
PASSED_ON = (
    *("HOME", "LOGNAME", "PATH", "SHELL", "USER", "LANG", "LC_ALL", "TZ"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE"),
)
"""All that a program gets of our environment: the rest is none of its business."""
OVER = "it was changed or removed meanwhile"


class McpTrouble(Exception):
    """The server cannot be used now; the message says why."""


class LoginNeeded(McpTrouble):
    def __init__(self, url: str) -> None:
        super().__init__("somebody has to sign in to it")
        self.url = url


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
    """Implements `Hearer`. Of its connection there is one at a time: the next begins when the host
    has said that the one before is over."""

    def __init__(
        self, server: McpServer, ground: Ground, link: Link, sandbox: Sandbox, sheets: Sheets
    ) -> None:
        self.server = server
        self.state = McpState.IDLE
        self.error: str | None = None
        self.login_url: str | None = None
        self.login_state: str | None = None
        self.was_waited_for = False
        """Whether somebody has waited to hear what it offers since it was last started."""
        self._ground = ground
        self._link = link
        self._sandbox = sandbox
        self._sheets = sheets
        self._calls = Calls(server, link)
        self._key: int | None = None
        self._opening: asyncio.Task[None] | None = None
        self._closing = False
        self._ended = False
        self._changed = asyncio.Event()
        self._held = AsyncExitStack()
        self._tidying: set[asyncio.Task[None]] = set()
        self._failures = 0
        self._not_before = 0.0
        self._idle: asyncio.TimerHandle | None = None
        self._late: asyncio.TimerHandle | None = None

    async def ready(self) -> int:
        """Its connection, started now if it is not there. Raises McpTrouble."""
        tried = False
        while not self._ended:
            if self.state is McpState.READY and self._key is not None and not self._closing:
                return self._key
            if self.state is McpState.NEEDS_LOGIN and self.login_url is not None:
                raise LoginNeeded(self.login_url)
            if self.state is McpState.FAILED and (tried or self._pause > SHORT_PAUSE_SECONDS):
                raise McpTrouble(self.error or "it cannot be used")
            if self._is_free:
                await asyncio.sleep(self._pause)
                self._begin()
                tried = True
            else:
                await self._next_change()
        raise McpTrouble(OVER)

    async def settled(self, seconds: float) -> None:
        """Until it is ready, has failed or needs a person, or the time is over."""
        try:
            async with asyncio.timeout(seconds):
                await self.ready()
        except (TimeoutError, McpTrouble):
            return

    async def ask(self, order: Callable[[int, int], message.Order], caller: Caller) -> message.Done:
        """What came of a request, of which `order` makes the message by its number and its
        connection. Raises McpTrouble and RequestRefused; a cancel reaches the server's handler."""
        key = await self.ready()
        self._stay()
        try:
            return await self._calls.make(key, order, caller)
        except LinkLost:
            raise McpTrouble(self.error or "it has ended") from None
        except RequestRefused as refused:
            raise RequestRefused(self._masked(str(refused))) from None
        finally:
            self._rest_later()

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
        """Let it go for good, and wait until nothing of it is left."""
        self._ended = True
        self._become(McpState.OFF)
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait({self._opening})
        try:
            async with asyncio.timeout(END_SECONDS):
                while self._key is not None:
                    self._close()
                    await self._next_change()
        except TimeoutError:
            log.error("an MCP server does not end", extra={"server": self.server.name})
        self._stay()
        await self._held.aclose()

    def hear(self, word: message.Words) -> None:
        match word:
            case message.Opened(listing=listing):
                self._failures, self.error = 0, None
                self._become(McpState.READY)
                self._sheets.offered(self.server, listing)
                self._rest_later()
            case message.HungUp():
                # Whoever needs it now waits until it is gone, and starts it again.
                self._closing = True
                self._become(McpState.STARTING)
            case message.NeedsLogin(url=url, state=state):
                self.login_url, self.login_state = url, state
                self._become(McpState.NEEDS_LOGIN)
            case message.LoggedIn(login=login):
                self._sheets.signed_in(self.server, login)
            case message.Closed(error=error):
                self._over(error)
            case message.Progressed() | message.Asks() | message.Unasked():
                self._calls.hear(word)

    @property
    def _is_free(self) -> bool:
        """Whether another connection could be begun."""
        return self._key is None and self._opening is None

    @property
    def _pause(self) -> float:
        """Seconds until it is tried again."""
        return max(0.0, self._not_before - _now())

    def _begin(self) -> None:
        if self._is_free and not self._ended:
            self.error = None
            self.was_waited_for = False
            self._become(McpState.STARTING)
            self._opening = asyncio.create_task(self._open())
            self._opening.add_done_callback(self._opened)

    async def _open(self) -> None:
        try:
            await self._held.aclose()
            self._key = await self._link.open(await self._spec(), self)
        except (McpTrouble, ToolFailed) as trouble:
            self._over(str(trouble))

    def _opened(self, task: "asyncio.Task[None]") -> None:
        self._opening = None
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("an MCP server cannot be started", exc_info=error)
            self._over("it could not be started because of an error in the server")
        self._changed.set()

    async def _spec(self) -> message.Program | message.Address:
        server, ground = self.server, self._ground
        if server.url:
            login = (await self._sheets.of(server)).login
            return message.Address(
                url=server.url, headers=server.headers, home=ground.home, login=login
            )
        ours = without_secrets(os.environ)
        environment = {name: ours[name] for name in PASSED_ON if name in ours}
        command = Command(
            arguments=(_program(server.command, ground.folder, environment), *server.args),
            folder=str(ground.folder),
            environment={**environment, **server.env, "PWD": str(ground.folder)},
            seconds=FOR_EVER_SECONDS,
            patience=ground.patience,
        )
        around = self._sandbox.around(command, ground.folder, ground.owner)
        return message.Program(command=await self._held.enter_async_context(around))

    def _close(self) -> None:
        if self._key is not None and not self._closing:
            self._closing = True
            self._link.close(self._key)

    def _over(self, error: str | None) -> None:
        self._key, self._closing = None, False
        self._stay()
        self._let_go()
        self.login_url, self.login_state = None, None
        self.error = self._masked(error) if error else self.error
        if self.state is McpState.STARTING and self.error is None and not self._failures:
            self.error = "it ended before it was ready"
        if self._ended:
            return self._become(McpState.OFF)
        if self.error is None:
            return self._become(McpState.IDLE)
        self._failures += 1
        pause = FIRST_PAUSE_SECONDS * 2 ** (self._failures - 1)
        self._not_before = _now() + min(pause, LONGEST_PAUSE_SECONDS)
        self._become(McpState.FAILED)

    def _become(self, state: McpState) -> None:
        self.state = McpState.OFF if self._ended else state
        self._changed.set()
        if self._late is not None:
            self._late.cancel()
            self._late = None
        if self.state is McpState.STARTING:
            loop = asyncio.get_running_loop()
            self._late = loop.call_later(START_SECONDS, self._is_late)

    def _is_late(self) -> None:
        self.error = f"it did not answer within {START_SECONDS:g} seconds"
        self._close()

    async def _next_change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    def _let_go(self) -> None:
        """Its scratch folder is nobody's until it starts again."""
        held, self._held = self._held, AsyncExitStack()
        task = asyncio.create_task(held.aclose())
        self._tidying.add(task)
        task.add_done_callback(self._tidying.discard)

    def _stay(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _rest_later(self) -> None:
        self._stay()
        if not self._calls.are_under_way and self._key is not None:
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(self._ground.idle_seconds, self._rest)

    def _rest(self) -> None:
        if not self._calls.are_under_way and self.state is McpState.READY:
            self.error = None
            self._close()

    def _masked(self, text: str) -> str:
        """Programs like to print their key when they do not like it."""
        for secret in self.server.secrets:
            if len(secret) >= SECRET_CHARACTERS:
                text = text.replace(secret, "…")
        return text


def _program(command: str, folder: Path, environment: Mapping[str, str]) -> str:
    where = str(folder / command) if "/" in command else command
    found = shutil.which(where, path=environment.get("PATH", os.defpath))
    if found is None:
        raise McpTrouble(f"there is no program {command!r} on this machine")
    return os.path.abspath(found)


def _now() -> float:
    return asyncio.get_running_loop().time()
