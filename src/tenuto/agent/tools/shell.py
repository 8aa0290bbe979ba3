"""`shell`: run a command, and leave nothing of it behind."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType

from tenuto.agent.tools.arguments import Arguments
from tenuto.agent.tools.built_in import BuiltIn
from tenuto.agent.tools.output import LiveScroll, Scroll, whole_at
from tenuto.agent.tools.processes.command_line import folder_of, in_shell, must_be_a_command
from tenuto.agent.tools.processes.tree import Exit, Lost, Unsafe, run
from tenuto.agent.tools.screen import Screen
from tenuto.core.rule import Subject, about_command
from tenuto.core.value import Value
from tenuto.ports.tool import Place, ToolFailed, ToolResult

TELL_SECONDS = 0.25
MOST_NAMED = 100
LOST = (
    "[the process that watches over the command was killed or told to stop; the command was ended "
    "with everything it had started]"
)

REFUSED = ("Permission denied", "Read-only file system", "EACCES", "EROFS")
KEPT_IN = (
    "[commands are in a sandbox: they can write only in the workspace and in the folder $TMPDIR, "
    "and cannot read the server's own data]"
)


class ShellArguments(Arguments):
    synonyms: ClassVar[Mapping[str, str]] = {
        "cmd": "command",
        "script": "command",
        "timeout_seconds": "timeout",
        "workdir": "cwd",
        "working_dir": "cwd",
        "working_directory": "cwd",
        "directory": "cwd",
    }

    command: Annotated[str, Meta(description="What to run, as one would type it into a shell.")]
    timeout: (
        Annotated[float, Meta(gt=0, description="Seconds after which it is stopped.")] | UnsetType
    ) = UNSET
    cwd: Annotated[
        str, Meta(description="The folder to run it in, relative to the workspace's.")
    ] = "."


class Shell(BuiltIn[ShellArguments]):
    name = "shell"
    about = (
        "Run a shell command in the workspace's folder, or the one that `cwd` names, and return "
        "what it prints, output and errors together. It has no input and no terminal, so nothing "
        "can ask or be typed. It is stopped when its time is up (120 seconds unless "
        "`timeout` says otherwise, 600 at most), and whatever it leaves in the background is "
        "ended with it: use start_job for what is to go on."
    )
    takes = ShellArguments
    changes = True

    async def about_call(self, given: ShellArguments, place: Place) -> Subject:
        return about_command(self.name, given.command)

    async def work(self, given: ShellArguments, place: Place) -> ToolResult:
        must_be_a_command(given.command)
        asked = self.settings.shell_seconds if given.timeout is UNSET else given.timeout
        seconds = min(asked, self.settings.shell_seconds_max)
        data = self.settings.data
        folder = await self.threads.run(lambda _: folder_of(place.folder, given.cwd, data))
        command = in_shell(given.command, folder, seconds=seconds, settings=self.settings)
        teller = Teller(place, self.settings.output_characters)
        try:
            async with (
                self.watching(place) as window,
                self.settings.sandbox.around(command, place.folder, place.session_id) as one,
            ):
                ended = await run(one, teller.hear)
        except Lost:
            raise ToolFailed(f"{teller.close().rstrip()}\n{LOST}".lstrip()) from None
        except Unsafe as trouble:
            raise ToolFailed(f"The command was not run: no sandbox for it ({trouble}).") from None
        finally:
            said = teller.close()
        limit = Limit(seconds=seconds, most=self.settings.shell_seconds_max)
        remarks = [whole_at(place.call_id)] if teller.is_cut else []
        remarks += _remarks(ended, limit)
        if one is not command and ended.status != 0 and any(word in said for word in REFUSED):
            remarks.append(KEPT_IN)
        text = "\n".join([said or "(no output)", *remarks])
        changed = {"changed": list(window.changed[:MOST_NAMED])} if window.changed else {}
        return ToolResult(text=text, details={"exit_code": ended.status, **changed})


class Limit(Value):
    seconds: float
    most: float


class Teller:
    """Tells the output so far, soon after it changed and at most four times a second."""

    def __init__(self, place: Place, limit: int) -> None:
        self._scroll = Scroll(limit)
        self._live = LiveScroll(limit)
        self._screen = Screen(self._scroll, self._live, place.keep(limit))
        self._place = place
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._told = ""
        self._told_at = -TELL_SECONDS

    @property
    def is_cut(self) -> bool:
        """Whether more was printed than is returned."""
        return self._scroll.is_cut

    def hear(self, data: bytes) -> None:
        self._screen.hear(data)
        if self._timer is None:
            self._timer = self._loop.call_at(self._told_at + TELL_SECONDS, self._tell)

    def close(self) -> str:
        """Return it all, capped; it is told too, in case that the call was cancelled."""
        self._screen.close()
        if self._timer is not None:
            self._timer.cancel()
        said = self._scroll.text().rstrip("\n")
        self._say(said)
        return said

    def _tell(self) -> None:
        self._timer = None
        self._told_at = self._loop.time()
        # The end of a line is told with what follows: whatever follows only adds to it.
        self._say((self._live.text() + self._screen.line).rstrip("\n"))

    def _say(self, text: str) -> None:
        if text != self._told:
            self._told = text
            self._place.progress(text)


def _remarks(ended: Exit, limit: Limit) -> list[str]:
    remarks = []
    if ended.status is None:
        remarks.append(
            f"[stopped: its {limit.seconds:g} seconds were up, and everything it had started was "
            f"ended. `timeout` can be up to {limit.most:g}; use start_job for what takes longer]"
        )
    elif ended.status < 0:
        remarks.append(f"[ended by signal {-ended.status}]")
    elif ended.status > 0:
        remarks.append(f"[exit code {ended.status}]")
    if ended.status is not None and ended.left:
        noun = "process" if ended.left == 1 else "processes"
        remarks.append(
            f"[{ended.left} {noun} left in the background: ended; use start_job for what is to go on]"
        )
    return remarks
