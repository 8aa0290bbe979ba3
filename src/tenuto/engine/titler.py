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

    def run_ended(self, session: Session, run: Run) -> None:
        """Look for a title once the session has an answer, if nobody gave it a name."""
        if (
            run.status is RunStatus.COMPLETED
            and run.mode is not Mode.COMPACT
            and session.title_source is TitleSource.PROVISIONAL
            and session.comparison is None
            and not session.parent
            and session.id not in self._tasks
            and self._wanted()
        ):
            task = asyncio.create_task(self._name(session.id, run), name=f"title {session.id}")
            self._tasks[session.id] = task
            task.add_done_callback(lambda _: self._tasks.pop(session.id, None))

    async def stop(self) -> None:
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
