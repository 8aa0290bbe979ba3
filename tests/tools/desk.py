"""A workspace for a test, and its tools by name."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from tenuto.agent.tools.kinds import built_in_tools
from tenuto.agent.tools.settings import ToolSettings
from tenuto.core.value import CallId, SessionId
from tenuto.ports.tool import Place, Reel, ToolFailed, ToolResult

MOST_KEPT = 1_000_000


class KeptText:
    """What a call gives to be kept whole."""

    def __init__(self, beyond: int) -> None:
        self.beyond = beyond
        self.text = ""

    def add(self, text: str) -> None:
        if len(self.text) < MOST_KEPT:
            self.text += text


class Desk:
    """Calls tools in one folder and remembers what they told on the way."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        self.session_id = SessionId("ses_1")
        self.told: list[str] = []
        self.told_at: list[float] = []
        self.kept: KeptText | None = None
        self.tools = {t.spec.name: t for t in built_in_tools(ToolSettings(**settings))}

    async def run(self, tool: str, **arguments: Any) -> str:
        return (await self.result(tool, **arguments)).text

    async def result(self, tool: str, **arguments: Any) -> ToolResult:
        place = Place(
            folder=self.folder,
            session_id=self.session_id,
            call_id=CallId("call_1"),
            progress=self._hear,
            keep=self._keep,
        )
        return await self.tools[tool].run(arguments, place)

    async def failure(self, tool: str, **arguments: Any) -> str:
        """The sentence with which the call fails."""
        with pytest.raises(ToolFailed) as caught:
            await self.run(tool, **arguments)
        return str(caught.value)

    async def hears(self, text: str) -> None:
        await until(lambda: any(text in told for told in self.told))

    def _keep(self, beyond: int) -> Reel:
        self.kept = KeptText(beyond)
        return self.kept

    def _hear(self, text: str) -> None:
        self.told.append(text)
        self.told_at.append(time.monotonic())


async def until(condition: Callable[[], bool], *, seconds: float = 15) -> None:
    with anyio.fail_after(seconds):
        while not condition():  # noqa: ASYNC110
            await anyio.sleep(0.01)


def alive(mark: str) -> list[str]:
    """The command lines of all living processes that carry this mark."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            line = Path(f"/proc/{name}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if mark in line:
            found.append(line)
    return found


def holders(file: Path) -> list[int]:
    """The other processes that have this file open."""
    wanted = os.stat(file)
    found = []
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if os.path.samestat(os.stat(link), wanted):
                found.append(int(link.parts[2]))
        except OSError:
            continue
    return [pid for pid in found if pid != os.getpid()]
