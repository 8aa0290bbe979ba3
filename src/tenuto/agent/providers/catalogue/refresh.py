"""The book of models fetched anew once a day, where that is allowed."""

import asyncio
import logging
import os
import secrets
import time
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from tenuto import __version__
from tenuto.agent.providers.catalogue import dataset
from tenuto.agent.providers.catalogue.almanac import KEPT, Almanac
from tenuto.agent.providers.connection.dial import Route
from tenuto.agent.providers.connection.line import NetworkTrouble

log = logging.getLogger(__name__)

DAY_SECONDS = 24 * 3600.0
AGAIN_SECONDS = 3600.0
"""After one that failed."""
CONNECT_SECONDS = 10.0
FETCH_SECONDS = 60.0
MOST_BYTES = 32 * 1024 * 1024
"""The table has three million."""


class NotFetched(Exception):
    """There is no new book; the reason is for the log."""


class Refresher:
    """Asks nobody before someone asks for models, and then nobody waits for it."""

    def __init__(self, address: str, folder: Path, almanac: Almanac) -> None:
        self._address = address
        self._path = folder / KEPT
        self._almanac = almanac
        self._work: asyncio.Task[None] | None = None
        self._tried: float | None = None

    def begin_if_due(self) -> None:
        if self._work is None and self._is_due():
            self._tried = time.monotonic()
            self._work = asyncio.create_task(self._try())
            self._work.add_done_callback(self._over)

    async def close(self) -> None:
        if self._work is not None:
            self._work.cancel()
            await asyncio.wait({self._work})

    async def refresh(self) -> None:
        """Fetch it now. Raises NotFetched; then what was there stays."""
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                raw = await _fetched(self._address)
            await asyncio.to_thread(_keep, raw, self._path)
        except TimeoutError:
            raise NotFetched(f"it took more than {FETCH_SECONDS:g} s") from None
        except dataset.NoTable as error:
            raise NotFetched(str(error)) from error
        except (NetworkTrouble, OSError) as error:
            raise NotFetched(str(error) or type(error).__name__) from error
        self._almanac.forget()

    def _is_due(self) -> bool:
        if self._tried is not None and time.monotonic() - self._tried < AGAIN_SECONDS:
            return False
        try:
            return time.time() - self._path.stat().st_mtime > DAY_SECONDS
        except OSError:
            return True

    async def _try(self) -> None:
        try:
            await self.refresh()
            log.info("what is known of models was fetched anew")
        except NotFetched as why:
            log.warning("what is known of models could not be fetched: %s", why)
        except Exception:
            log.exception("what is known of models could not be fetched")

    def _over(self, _: asyncio.Task[None]) -> None:
        self._work = None


async def _fetched(address: str) -> bytes:
    base, _, path = address.rpartition("/")
    route = Route(base)
    headers = {"User-Agent": f"tenuto/{__version__}", "Accept-Encoding": "identity"}
    line = await route.dial(seconds=CONNECT_SECONDS)
    try:
        line.ask(route.request("GET", f"/{path}", headers), stall_seconds=FETCH_SECONDS)
        head = await line.head()
        if head.status != 200:
            raise NotFetched(f"{base} answered {head.status}")
        body = bytearray()
        while chunk := await line.read():
            body += chunk
            if len(body) > MOST_BYTES:
                raise NotFetched("it is larger than anything of this kind")
        return bytes(body)
    finally:
        line.close()


def _keep(raw: bytes, path: Path) -> None:
    """Whole or not at all: it gets its name when it is on disk. Raises NoTable."""
    book = dataset.read(raw, made=str(datetime.now(UTC).date()))
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with draft.open("wb") as file:
            file.write(msgspec.json.encode(book))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
