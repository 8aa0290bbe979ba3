"""A run's stream together with the very frames that it came in."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from tenuto.client.sse import Frame
from tenuto.client.stream import After, Item, RunFollower
from tenuto.client.wire import ServerLink
from tenuto.core.value import RunId


class HeardRun(RunFollower):
    """Follows one run, and keeps what came, word for word, until it is asked for."""

    def __init__(self, wire: ServerLink, run_id: RunId, *, after: After) -> None:
        super().__init__(wire, run_id, after=after)
        self.connections = 0
        """How often the server was asked: more than once, if it was lost in between."""
        self._frames: list[Frame] = []

    def heard(self) -> list[Frame]:
        """The frames since the last time, those of kinds that we do not know too; each once."""
        frames, self._frames = self._frames, []
        return frames

    async def read_once(self) -> AsyncGenerator[Item, None]:
        self.connections += 1
        async with aclosing(super().read_once()) as items:
            async for item in items:
                yield item

    def take(self, frame: Frame) -> Item | None:
        before = self._after
        item = super().take(frame)
        if self._after != before:
            self._frames.append(frame)
        return item
