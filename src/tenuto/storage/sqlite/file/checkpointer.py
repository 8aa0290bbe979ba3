"""Moving the WAL into the database file, beside the writer and never in its way."""

import logging
import threading
from pathlib import Path

import apsw

from tenuto.ports.points import NOWHERE, Points, Step
from tenuto.storage.sqlite.file.connection import connect
from tenuto.storage.sqlite.file.transaction import Transaction

PASSIVE_PAGES = 1_000
"""A WAL that grew by this much since the last time is worth a passive checkpoint."""
RESTART_PAGES = 4_000
"""Under steady load this thread never catches up quite. Past this length the writer copies the
last few pages itself, between two groups, and its next commit starts the file over."""
LOOK_EVERY_GROUPS = 16
"""Often enough for the thresholds above, and seldom enough to cost nothing."""
IDLE_SECONDS = 30.0
"""After so long without a commit, a long WAL is cut off; a short one is left alone."""

log = logging.getLogger(__name__)


class Checkpointer:
    """Sleeps until the WAL has grown; writes nothing while nothing happens."""

    def __init__(self, path: Path, *, points: Points = NOWHERE) -> None:
        self._path = path
        self._points = points
        self._groups = 0
        self._pages = 0
        self._done_at = 0
        self._stopping = False
        self._last_pages_left = False
        self._turn = threading.Lock()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="tenuto-checkpoint", daemon=True)
        self._thread.start()

    def between_groups(self, writer: Transaction) -> None:
        """The writer's offer after each group: to look at the WAL now and then, and to finish."""
        self._groups += 1
        if self._groups % LOOK_EVERY_GROUPS == 0:
            self._grew(writer.wal_pages())
        self._finish(writer)

    def _grew(self, pages: int) -> None:
        if pages < self._pages:
            self._done_at = 0
        self._pages = pages
        if pages - self._done_at >= PASSIVE_PAGES:
            self._wake.set()

    def _finish(self, writer: Transaction) -> None:
        """The writer copies the last pages itself if only they are left."""
        if not self._last_pages_left or not self._turn.acquire(blocking=False):
            return
        try:
            self._last_pages_left = False
            self._points.reach(Step.CHECKPOINTING, "by the writer")
            writer.checkpoint()
            self._points.reach(Step.CHECKPOINTED, "by the writer")
        except apsw.Error as error:
            # Everything is safe in the WAL; it only stays longer for now.
            log.warning("the checkpoint has to wait: %s", error)
        finally:
            self._turn.release()

    def stop(self) -> None:
        """Blocks until a checkpoint under way has ended."""
        self._stopping = True
        self._wake.set()
        self._thread.join()

    def _serve(self) -> None:
        while not self._stopping:
            long = self._pages >= PASSIVE_PAGES
            woken = self._wake.wait(IDLE_SECONDS if long else None)
            self._wake.clear()
            if self._stopping:
                return
            try:
                with self._turn:
                    self._points.reach(Step.CHECKPOINTING)
                    self._checkpoint(idle=not woken)
                    self._points.reach(Step.CHECKPOINTED)
            except apsw.Error as error:
                # The data is safe in the WAL; the next commits call again.
                log.warning("the checkpoint has to wait: %s", error)

    def _checkpoint(self, *, idle: bool) -> None:
        connection = connect(self._path)
        try:
            # A connection learns that there is a WAL by reading; until then it would do nothing.
            connection.pragma("schema_version")
            if idle:
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
                self._pages = self._done_at = 0
                return
            pages, _ = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            self._done_at = max(pages, 0)
            self._last_pages_left = pages >= RESTART_PAGES
        finally:
            connection.close()
