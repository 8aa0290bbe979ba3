"""The follower reads what other nodes committed, once for all who watch here."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping

import anyio

from tenuto.core.error import StorageTrouble
from tenuto.core.value import StreamId
from tenuto.ports.query import Page
from tenuto.ports.view import Logs

log = logging.getLogger(__name__)

PAGE = 500
AGAIN_SECONDS = 1.0

Cursor = Callable[[StreamId], int | None]
"""From where on a log is to be read; None: nobody watches it, or whoever does reads it anyway."""
Found = Callable[[StreamId, Page | None], bool]
"""Takes what was read (None: the log is gone); whether there is more."""


class LogFollower:
    """One read at a time: what is rung meanwhile goes into the next one."""

    def __init__(self, log_: Logs, cursor: Cursor, found: Found) -> None:
        self._log = log_
        self._cursor = cursor
        self._found = found
        self._rung: dict[StreamId, None] = {}
        self._reading: asyncio.Task[None] | None = None
        self._closed = False

    def look_at(self, streams: Iterable[StreamId]) -> None:
        """Read what is new in these, as soon as the read under way is over."""
        self._rung.update(dict.fromkeys(streams))
        if self._rung and not self._closed and (self._reading is None or self._reading.done()):
            self._reading = asyncio.create_task(self._read(), name="follower")

    async def close(self) -> None:
        self._closed = True
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def _read(self) -> None:
        while after := self._wanted():
            try:
                pages = await self._log.read_many(after, limit=PAGE)
            except Exception as trouble:
                if not isinstance(trouble, StorageTrouble):
                    log.exception("rung logs cannot be read")
                await anyio.sleep(AGAIN_SECONDS)
                self._rung.update(dict.fromkeys(after))
                continue
            self._rung.update(dict.fromkeys(s for s in after if self._found(s, pages.get(s))))

    def _wanted(self) -> Mapping[StreamId, int]:
        rung, self._rung = self._rung, {}
        cursors = ((stream, self._cursor(stream)) for stream in rung)
        return {stream: cursor for stream, cursor in cursors if cursor is not None}
