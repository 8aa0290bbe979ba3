"""Commands in the background: on the same leash and behind the same walls as those of `shell`."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext

from tenuto.agent.tools.files.errand import in_thread
from tenuto.agent.tools.processes.command_line import folder_of, in_shell
from tenuto.agent.tools.processes.tree import Lost, Unsafe, run
from tenuto.agent.tools.screen import Screen
from tenuto.agent.tools.settings import ToolSettings
from tenuto.ports.job import JobOrder
from tenuto.ports.tool import ToolFailed

LOST = "the process that watches over it was killed; it was ended with everything it had started"


class BackgroundCommands:
    """Implements `JobRunner`."""

    def __init__(self, settings: ToolSettings) -> None:
        self._settings = settings

    async def run(self, order: JobOrder, hear: Callable[[str], None]) -> int:
        settings = self._settings
        folder = await in_thread(lambda _: folder_of(order.workspace, order.cwd, settings.data))
        command = in_shell(order.command, folder, seconds=float("inf"), settings=settings)
        screen = Screen(_Ear(hear))
        try:
            async with (
                self._following(order),
                settings.sandbox.around(command, order.workspace, order.session_id) as one,
            ):
                ended = await run(one, screen.hear)
        except Lost:
            raise ToolFailed(LOST) from None
        except Unsafe as trouble:
            raise ToolFailed(f"there is no sandbox for it ({trouble})") from None
        finally:
            screen.close()
        # Its time is never up: it has a status.
        return ended.status or 0

    def _following(self, order: JobOrder) -> AbstractAsyncContextManager[object]:
        witnesses = self._settings.witnesses
        if witnesses is None:
            return nullcontext()
        return witnesses.following(order.workspace, order.changes)


class _Ear:
    def __init__(self, hear: Callable[[str], None]) -> None:
        self._hear = hear

    def add(self, text: str) -> None:
        if text:
            self._hear(text)
