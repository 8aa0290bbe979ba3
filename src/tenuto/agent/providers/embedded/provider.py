"""The embedded model: a small one that answers when nobody else does, or one of one's own."""

import asyncio
import os
import secrets
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from pathlib import Path

from msgspec.structs import replace

from tenuto.agent.providers.catalogue.setting import ProviderConfig, ProviderLimits
from tenuto.agent.providers.embedded.model_file import ModelFile
from tenuto.agent.providers.embedded.own_file import OwnFile
from tenuto.agent.providers.embedded.sheet import Sheet
from tenuto.agent.providers.provider import HttpProvider
from tenuto.core.provider import ProviderKind
from tenuto.core.run import Reason
from tenuto.ports.model import Model, ModelRequest, Piece, ProviderError

NAME = "embedded"
SLOTS = 4
START_SECONDS = 120.0
STOP_SECONDS = 5.0
DEATH_SECONDS = 0.5


class _Child:
    """A running child and the way to ask it."""

    def __init__(self, process: Process, provider: HttpProvider) -> None:
        self.process = process
        self.provider = provider

    @property
    def alive(self) -> bool:
        return self.process.returncode is None

    async def notice_death(self) -> None:
        """Its connections break before its death is known: wait a moment for that."""
        with suppress(TimeoutError):
            async with asyncio.timeout(DEATH_SECONDS):
                await self.process.wait()

    async def stop(self) -> None:
        await self.provider.close()
        await _end(self.process)


class EmbeddedProvider:
    """Starts the model's process when it is needed, again if it died, and stops it when idle."""

    name = NAME

    def __init__(
        self,
        models: ModelFile | OwnFile,
        *,
        idle_seconds: float = 600.0,
        limits: ProviderLimits | None = None,
    ) -> None:
        self._file = models
        self._idle_seconds = idle_seconds
        self._limits = limits or ProviderLimits()
        self._child: _Child | None = None
        self._preparing: asyncio.Task[_Child] | None = None
        self._users = 0
        self._idle: asyncio.TimerHandle | None = None
        self._stopping: set[asyncio.Task[None]] = set()

    @property
    def pid(self) -> int | None:
        """Of the child; None while there is none."""
        return self._child.process.pid if self._child and self._child.alive else None

    @property
    def fetched(self) -> bool:
        """Whether its file is here, so that it can answer without a network."""
        return self._file.here

    async def models(self) -> Sequence[Model]:
        sheet = await self._file.sheet()
        return [
            Model(
                id=f"{NAME}/{sheet.name}",
                name=sheet.name,
                provider=NAME,
                context_window=sheet.window,
                capabilities=sheet.capabilities,
                max_output=sheet.longest_answer,
                source="listing",
            )
        ]

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Piece], None]:
        sheet = await self._file.sheet()
        limits = [limit for limit in (request.max_tokens, sheet.longest_answer) if limit]
        tools = request.tools if "tools" in sheet.capabilities else ()
        asked = replace(request, tools=tools, max_tokens=min(limits, default=None))
        self._users += 1
        try:
            child = await self._ready()
            # Closed here and now, not when the collector finds it: that is what stops the model.
            async with aclosing(child.provider.stream(asked)) as answer:
                async for pieces in answer:
                    yield pieces
        except ProviderError as error:
            if self._child is not None and error.retry_after is not None:
                await self._child.notice_death()
            raise
        finally:
            self._users -= 1
            self._watch_idle()

    async def close(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        if self._preparing is not None:
            self._preparing.cancel()
            await asyncio.wait({self._preparing})
        self._retire()
        if self._stopping:
            await asyncio.wait(self._stopping)

    async def _ready(self) -> _Child:
        """The running child, prepared once for all who wait."""
        if self._child is not None and self._child.alive:
            return self._child
        if self._preparing is None:
            self._retire()
            self._preparing = asyncio.create_task(self._prepare())
            self._preparing.add_done_callback(self._prepared)
        # One who gives up must not take it from the others.
        return await asyncio.shield(self._preparing)

    async def _prepare(self) -> _Child:
        path = await self._file.path()
        return await _start(path, await self._file.sheet(), self._limits)

    def _prepared(self, task: asyncio.Task[_Child]) -> None:
        self._preparing = None
        if not task.cancelled() and task.exception() is None:
            self._child = task.result()
            self._watch_idle()

    def _watch_idle(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        if self._users == 0 and self._child is not None:
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(self._idle_seconds, self._retire_if_idle)

    def _retire_if_idle(self) -> None:
        if self._users == 0:
            self._retire()

    def _retire(self) -> None:
        if self._child is None:
            return
        task = asyncio.create_task(self._child.stop())
        self._child = None
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)


async def _start(path: Path, sheet: Sheet, limits: ProviderLimits) -> _Child:
    key = secrets.token_urlsafe(24)
    threads = max(1, (os.cpu_count() or 1) - 1)
    settings: dict[str, object] = {
        "--model": path,
        "--name": sheet.name,
        "--context": sheet.window,
        "--slots": SLOTS,
    }
    if sheet.temperature is not None:
        settings["--temperature"] = sheet.temperature
    if sheet.repeat_penalty is not None:
        settings["--repeat-penalty"] = sheet.repeat_penalty
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "tenuto.agent.providers.embedded.server"),
        *(str(word) for pair in settings.items() for word in pair),
        *("--threads", str(threads)),
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        # Ctrl-C in our terminal is for us: we stop the child after the runs have ended.
        start_new_session=True,
    )
    try:
        url = await _url(process, key)
        provider = HttpProvider(
            ProviderConfig(
                name=NAME,
                kind=ProviderKind.OPENAI,
                base_url=f"{url}/v1",
                api_key=key,
                limits=limits,
            )
        )
        await provider.models()
    except BaseException:
        await asyncio.shield(_end(process))
        raise
    return _Child(process, provider)


async def _url(process: Process, key: str) -> str:
    """The child's address, once the model is loaded."""
    assert process.stdin is not None and process.stdout is not None
    line = b""
    with suppress(TimeoutError, ConnectionError):
        process.stdin.write(key.encode() + b"\n")
        async with asyncio.timeout(START_SECONDS):
            line = await process.stdout.readline()
    if not line:
        words = "the embedded model could not be started: its process ended or took too long"
        raise ProviderError(Reason.PROVIDER_ERROR, words, retry_after=1.0)
    return line.decode().strip()


async def _end(process: Process) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
