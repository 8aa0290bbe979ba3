"""The titler finds titles in the background. A title is never worth an error."""

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from tenuto.core import editing
from tenuto.core.day_usage import UsageKind, booking
from tenuto.core.error import TenutoError
from tenuto.core.run import Mode, Run, RunStatus, Usage
from tenuto.core.session import Session, TitleSource
from tenuto.core.value import SessionId, Value
from tenuto.engine.node import Node
from tenuto.ports.model import ProviderError
from tenuto.ports.points import Step
from tenuto.ports.store import Store

log = logging.getLogger(__name__)

TITLE_SECONDS = 120.0
LONG_SECONDS = 10.0


class Titled(Value):
    """What came of looking for a title."""

    title: str | None
    """None: the model found none."""
    model: str
    usage: Usage


class Maker(Protocol):
    async def make(self, session_id: SessionId, run: Run) -> Titled | None: ...


class Titler:
    def __init__(
        self,
        store: Store,
        maker: Maker,
        node: Node,
        *,
        wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        self._points = node.points
        self._store = store
        self._maker = maker
        self._wanted = wanted
        self._node = node
        self._tasks: dict[SessionId, asyncio.Task[None]] = {}
        self._long: dict[SessionId, asyncio.TimerHandle] = {}
        """When to name a session whose first run takes long."""

    def run_begun(self, session: Session, run: Run) -> None:
        """A run that takes long, or is stopped, leaves its session no name for as long: after a
        while its prompt alone must do. Not at once: many who answer can do one thing at a time."""
        if self._is_nameless(session, run) and session.id not in self._long:
            loop = asyncio.get_running_loop()
            self._long[session.id] = loop.call_later(LONG_SECONDS, self._takes_long, session, run)

    def run_ended(self, session: Session, run: Run) -> None:
        """Look for a title once the session has an answer, if nobody gave it a name."""
        if (timer := self._long.pop(session.id, None)) is not None:
            timer.cancel()
        if run.status is RunStatus.COMPLETED:
            self._look(session, run)

    def _takes_long(self, session: Session, run: Run) -> None:
        del self._long[session.id]
        self._look(session, run)

    def _look(self, session: Session, run: Run) -> None:
        if not self._is_nameless(session, run) or session.id in self._tasks:
            return
        task = asyncio.create_task(self._name(session.id, run), name=f"title {session.id}")
        self._tasks[session.id] = task
        task.add_done_callback(lambda _: self._tasks.pop(session.id, None))

    def _is_nameless(self, session: Session, run: Run) -> bool:
        return (
            run.mode is not Mode.COMPACT
            and session.title_source is TitleSource.PROVISIONAL
            and session.comparison is None
            and not session.parent
            and self._wanted()
        )

    async def stop(self) -> None:
        for timer in self._long.values():
            timer.cancel()
        self._long.clear()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _keep(self, session_id: SessionId, found: Titled, run: Run) -> None:
        moment = self._node.moment()
        paid = booking(
            found.usage, kind=UsageKind.TITLE, model=found.model, at=moment.now, by=run.by
        )
        await self._store.commit(
            session_id, lambda desk: editing.name(desk, found.title, moment, booked=(paid,))
        )

    async def _name(self, session_id: SessionId, run: Run) -> None:
        try:
            async with asyncio.timeout(TITLE_SECONDS):
                found = await self._maker.make(session_id, run)
            if found is not None:
                self._points.reach(Step.TITLE_FOUND)
                await self._keep(session_id, found, run)
        except (ProviderError, TenutoError, TimeoutError) as error:
            log.info("no title: %s", error, extra={"session_id": session_id})
        except Exception:
            log.exception("no title", extra={"session_id": session_id})
