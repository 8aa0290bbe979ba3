"""The sandbox: commands write in their workspace and a folder of their own, and nowhere else, and
cannot read what is the server's.

Landlock, which needs nobody's leave, wherever the kernel has it. It cannot close a folder inside
one that is open; there, and on kernels without it, bubblewrap does, if it is installed.
"""

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from tenuto.agent.tools.files.errand import in_thread
from tenuto.agent.tools.processes import landlock
from tenuto.agent.tools.processes import scratch as scratch_folders
from tenuto.agent.tools.processes.scratch import Scratch, leading_to
from tenuto.agent.tools.processes.tree import Command, Walls
from tenuto.core.sandbox import Sandboxing, SandboxKind, SandboxWish
from tenuto.ports.tool import ToolFailed

PROBE_SECONDS = 5.0
DROPPED = ("sys_admin", "sys_module", "sys_rawio", "sys_boot", "sys_ptrace", "dac_read_search")
"""An administrator's ways out of it."""
NONE_TO_BE_HAD = (
    "The server's settings let commands run only in a sandbox (`tools.sandbox = on`), and this "
    "system has none: it needs Linux 6.2 or newer with Landlock, or bubblewrap."
)
NOT_HERE = (
    "The server's settings let commands run only in a sandbox (`tools.sandbox = on`). There is none "
    "for this workspace, because the server's own data folder is inside it; bubblewrap would help."
)


class Sandbox:
    def __init__(
        self,
        wish: SandboxWish,
        *,
        closed: tuple[Path, ...] = (),
        writable: tuple[Path, ...] = (),
        scratch: Scratch | None = None,
    ) -> None:
        """`closed` is what is the server's own; `writable` is open besides."""
        self._wish = wish
        self._closed = tuple(os.path.realpath(path) for path in closed)
        self._writable = tuple(os.path.realpath(path) for path in writable)
        self._scratch = scratch or Scratch(None)
        self._sweeping: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def around(self, command: Command, folder: Path, owner: str) -> AsyncIterator[Command]:
        """The command as it is to be run, in this workspace's folder. Raises ToolFailed."""
        if self._wish is SandboxWish.OFF:
            yield command
            return
        scratch = await in_thread(lambda _: self._scratch.hold(owner))
        try:
            yield await in_thread(lambda _: self._inside(command, folder, scratch))
        finally:
            self._scratch.let_go(owner)
            self._sweep_later()

    def _sweep_later(self) -> None:
        if self._sweeping is None:
            loop = asyncio.get_running_loop()
            self._sweeping = loop.call_later(scratch_folders.IDLE_SECONDS, self._sweep)

    def _sweep(self) -> None:
        self._sweeping = None
        swept = asyncio.get_running_loop().run_in_executor(None, self._scratch.sweep)
        swept.add_done_callback(lambda left: self._sweep_later() if left.result() else None)

    def standing(self) -> Sandboxing:
        """What holds for most workspaces. Blocks, once."""
        kind = SandboxKind.NONE if self._wish is SandboxWish.OFF else self._usual
        return Sandboxing(
            wanted=self._wish,
            kind=kind,
            abi=self._abi or None,
            about=_said(kind, self._wish),
        )

    def clear(self) -> None:
        """Remove what commands left in their scratch folders. Blocks."""
        self._scratch.clear()

    def _inside(self, command: Command, folder: Path, scratch: Path) -> Command:
        open_here = (os.path.realpath(folder), str(scratch), *self._writable)
        environment = {**command.environment, **leading_to(scratch)}
        match self._kind(open_here):
            case SandboxKind.LANDLOCK:
                walls = Walls(writable=open_here, closed=self._closed)
                return replace(command, walls=walls, environment=environment)
            case SandboxKind.BUBBLEWRAP:
                arguments = (*self._wrapping(open_here), *command.arguments)
                return replace(command, arguments=arguments, environment=environment)
        if self._wish is SandboxWish.ON:
            none = self._usual is SandboxKind.NONE
            raise ToolFailed(NONE_TO_BE_HAD if none else NOT_HERE)
        return command

    def _kind(self, open_here: tuple[str, ...]) -> SandboxKind:
        # A file of ours in a workspace is open to every tool anyway.
        folders = [shut for shut in self._closed if os.path.isdir(shut)]
        inside = any(_is_in(shut, one) for shut in folders for one in open_here)
        if self._usual is SandboxKind.LANDLOCK and inside:
            return SandboxKind.BUBBLEWRAP if self._wrap_works else SandboxKind.NONE
        return self._usual

    @cached_property
    def _abi(self) -> int:
        found = landlock.version()
        return found if found >= landlock.LEAST_ABI else 0

    @cached_property
    def _usual(self) -> SandboxKind:
        if self._abi:
            return SandboxKind.LANDLOCK
        return SandboxKind.BUBBLEWRAP if self._wrap_works else SandboxKind.NONE

    @cached_property
    def _wrap_works(self) -> bool:
        """Tried, not believed: containers often forbid what it does."""
        if shutil.which("bwrap") is None:
            return False
        try:
            tried = subprocess.run(
                [*self._wrapping(()), "/bin/sh", "-c", ":"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=PROBE_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        return tried.returncode == 0

    def _wrapping(self, open_here: tuple[str, ...]) -> list[str]:
        """What lies inside something else is said after it, so that it counts."""
        places = [(path, _hiding(path)) for path in self._closed if os.path.exists(path)]
        places += [(path, ("--bind", path, path)) for path in open_here if os.path.exists(path)]
        mounts = [word for _, words in sorted(places, key=_depth) for word in words]
        dropped = [word for name in DROPPED for word in ("--cap-drop", f"cap_{name}")]
        base = ["--ro-bind", "/", "/", "--dev", "/dev", "--bind", "/dev/shm", "/dev/shm"]
        return [shutil.which("bwrap") or "bwrap", *base, *mounts, *dropped, "--"]


NO_SANDBOX = Sandbox(SandboxWish.OFF)


def _hiding(path: str) -> tuple[str, ...]:
    return ("--tmpfs", path) if os.path.isdir(path) else ("--ro-bind", "/dev/null", path)


def _depth(place: tuple[str, tuple[str, ...]]) -> int:
    return len(Path(place[0]).parts)


def _is_in(inner: str, outer: str) -> bool:
    return inner == outer or inner.startswith(outer.rstrip("/") + "/")


def _said(kind: SandboxKind, wish: SandboxWish) -> str:
    if kind is not SandboxKind.NONE:
        return (
            "Commands can write in their workspace and a temporary folder of their own, and cannot "
            "read the server's data folder."
        )
    if wish is SandboxWish.ON:
        return "There is no sandbox on this system, so nothing that would need one is run."
    return "Commands can do all that the server's user can."
