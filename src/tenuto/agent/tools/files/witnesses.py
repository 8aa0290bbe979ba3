"""Witnesses: who sees what commands change in a folder, one for each that commands run in."""

import asyncio
import base64
import json
import logging
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from enum import Enum
from pathlib import Path
from typing import Any

import anyio

from tenuto.agent.tools.files.vault import vault_at
from tenuto.agent.tools.processes.helper import PROGRAMS
from tenuto.agent.tools.processes.tree import PYTHON
from tenuto.core.file_change import FileState
from tenuto.core.value import RunId
from tenuto.engine.protect import finish
from tenuto.ports.changes import FileChanges, FoundChange, SeenFile
from tenuto.ports.tool import Place

log = logging.getLogger(__name__)

WITNESS = PROGRAMS / "witness.py"
IDLE_SECONDS = 60.0
"""How long one stays after the last command: what it has seen need not be looked at again."""
LOOK_SECONDS = 8.0
"""The program keeps its own limits; this one is for a disk that hangs."""
AFTER_SECONDS = 1.0
"""For the look after a command that was stopped."""
LINE_BYTES = 40_000_000
NOT_KNOWN = "What was there is not known: it was too large, or there was too much to keep."
NOT_ALONE = "Another run worked in the folder at the same time."


Forget = Callable[[str, asyncio.subprocess.Process | None], None]


class Gone(Exception):
    """The witness ended, or did not answer."""


class Span(Enum):
    """How long something is watched that may change files."""

    CALL = "call"
    JOB = "job"
    """It goes on beside calls: what they tell of is theirs."""


class Window:
    """From before a command to after it."""

    def __init__(self, run_id: RunId, span: Span = Span.CALL) -> None:
        self.run_id = run_id
        self.span = span
        self.begun = 0
        """The look before the command."""
        self.alone = True
        """Whether no other run was at work in the folder at the same time."""
        self.told: set[str] = set()
        """What tools of ours changed meanwhile, and told of themselves."""
        self.changed: tuple[str, ...] = ()
        """Paths, once it is over."""


class Witnesses:
    def __init__(self, data: Path | None = None) -> None:
        self._data = data
        self._by_folder: dict[str, Witness] = {}
        self._ended: list[asyncio.subprocess.Process] = []
        """Those that were told to go, and may not have yet."""

    @asynccontextmanager
    async def watching(self, place: Place) -> AsyncIterator[Window]:
        """What changes in the workspace meanwhile is told to the call, however it ends."""
        async with self._watching(place.folder, place.changes, Span.CALL) as window:
            yield window

    @asynccontextmanager
    async def following(self, folder: Path, changes: FileChanges) -> AsyncIterator[Window]:
        """The same for a job, but for what calls tell of meanwhile."""
        async with self._watching(folder, changes, Span.JOB) as window:
            yield window

    @asynccontextmanager
    async def _watching(
        self, folder: Path, changes: FileChanges, span: Span
    ) -> AsyncIterator[Window]:
        witness, window = self._of(folder), Window(changes.owner, span)
        with witness.held(window):
            seen = await self._begin(witness, window)
            try:
                yield window
            finally:
                if seen:
                    work = self._tell(witness, window, changes)
                    await finish(work, seconds=AFTER_SECONDS)

    def told(self, folder: Path, path: str) -> None:
        """A tool of ours changes this file, and tells of it itself."""
        witness = self._by_folder.get(os.path.realpath(folder))
        for window in () if witness is None else witness.windows:
            window.told.add(path)

    async def close(self) -> None:
        """All go, and have gone."""
        for witness in list(self._by_folder.values()):
            witness.end()
        await asyncio.gather(*(process.wait() for process in self._ended))

    async def _begin(self, witness: "Witness", window: Window) -> bool:
        try:
            window.begun = int((await witness.look())["look"])
        except Gone as trouble:
            log.warning("nobody sees what a command changes: %s", trouble)
            return False
        return True

    async def _tell(self, witness: "Witness", window: Window, told: FileChanges) -> None:
        try:
            found = await witness.look(since=window.begun, until=_until(window, witness))
        except Gone as trouble:
            log.warning("nobody saw what a command changed: %s", trouble)
            return
        changes = [
            _found(one, window) for one in found["changes"] if one["path"] not in window.told
        ]
        window.changed = tuple(change.path for change in changes)
        for other in witness.windows:
            if other.span is Span.JOB:
                other.told |= set(window.changed)
        if changes:
            await told.found(changes)

    def _of(self, folder: Path) -> "Witness":
        root = os.path.realpath(folder)
        known = self._by_folder.get(root)
        if known is None or known.over:
            known = self._by_folder[root] = Witness(root, self._data, self._forget)
        return known

    def _forget(self, folder: str, process: asyncio.subprocess.Process | None) -> None:
        self._by_folder.pop(folder, None)
        self._ended = [one for one in self._ended if one.returncode is None]
        if process is not None:
            self._ended.append(process)


class Witness:
    """One program that looks at one folder, started when it is first asked."""

    def __init__(self, folder: str, data: Path | None, forget: Forget) -> None:
        self._folder = folder
        self._data = data
        self._forget = forget
        self._process: asyncio.subprocess.Process | None = None
        self._lock = asyncio.Lock()
        self._idle: asyncio.TimerHandle | None = None
        self.windows: list[Window] = []
        self.over = False

    @contextmanager
    def held(self, window: Window) -> Iterator[None]:
        """While a command is under way."""
        self._enter(window)
        try:
            yield
        finally:
            self._leave(window)

    async def look(self, *, since: int | None = None, until: int | None = None) -> dict[str, Any]:
        """What the folder is like now. Raises Gone."""
        async with self._lock:
            if self.over:
                raise Gone("it ended")
            try:
                with anyio.fail_after(LOOK_SECONDS):
                    return await self._asked(since, until)
            except (OSError, TimeoutError, ValueError, asyncio.IncompleteReadError) as error:
                self.end()
                raise Gone(type(error).__name__) from error
            except asyncio.CancelledError:
                # Its answer would be taken for that of the next question.
                self.end()
                raise

    async def _asked(self, since: int | None, until: int | None) -> dict[str, Any]:
        process = self._process or await self._started()
        assert process.stdin is not None and process.stdout is not None
        oldest = min((w.begun for w in self.windows if w.begun), default=None)
        request = {} if since is None else {"since": since}
        request |= {} if until is None else {"until": until}
        if oldest is not None:
            request["forget"] = oldest
        process.stdin.write(json.dumps(request).encode() + b"\n")
        await process.stdin.drain()
        line = await process.stdout.readuntil(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    async def _started(self) -> asyncio.subprocess.Process:
        vault = vault_at(self._data)
        asked = {"folder": self._folder, "closed": vault.folder, "opening": vault.opening}
        self._process = await asyncio.create_subprocess_exec(
            *PYTHON,
            str(WITNESS),
            json.dumps(asked),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            cwd="/",
            env={},
            start_new_session=True,
            limit=LINE_BYTES,
        )
        return self._process

    def _enter(self, window: Window) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        for other in self.windows:
            calls = other.span is window.span is Span.CALL
            if calls and other.run_id != window.run_id:
                other.alone = window.alone = False
        self.windows.append(window)

    def _leave(self, window: Window) -> None:
        self.windows.remove(window)
        if not self.windows and not self.over:
            self._idle = asyncio.get_running_loop().call_later(IDLE_SECONDS, self.end)

    def end(self) -> None:
        """It goes; the next command has another."""
        self.over = True
        process, self._process = self._process, None
        self._forget(self._folder, process)
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()


def _until(window: Window, witness: Witness) -> int | None:
    """What a job leaves to the calls that are under way; None: nothing."""
    calls = [one.begun for one in witness.windows if one.span is Span.CALL and one.begun]
    return min(calls) if calls and window.span is Span.JOB else None


def _found(told: dict[str, Any], window: Window) -> FoundChange:
    old, new = _seen(told["old"]), _seen(told["new"])
    lost = old is not None and old.content is None
    return FoundChange(
        path=told["path"],
        old=old,
        new=new,
        why=NOT_KNOWN if lost else "" if window.alone else NOT_ALONE,
        folders=tuple(told["folders"]) if old is None else (),
    )


def _seen(told: dict[str, Any] | None) -> SeenFile | None:
    if told is None:
        return None
    content = None if told["content"] is None else base64.b64decode(told["content"])
    link = bool(told["link"])
    state = FileState(
        digest=told["digest"], size=told["size"], mode=0 if link else told["mode"], link=link
    )
    return SeenFile(state=state, content=content)
