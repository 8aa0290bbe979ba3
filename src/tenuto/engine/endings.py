"""Waiting for the ending of a run."""

from tenuto.core.run import Run
from tenuto.core.value import RunId, StreamId
from tenuto.engine.bell import Bell
from tenuto.ports.clock import Clock
from tenuto.ports.store import Store

LOOK_SECONDS = 5.0
"""How long to rely on the bell before looking again."""
SHARED_LOOK_SECONDS = 1.0
"""The same where other nodes ring: a ring may be lost."""


class Endings:
    def __init__(self, store: Store, bell: Bell, clock: Clock) -> None:
        self._store = store
        self._bell = bell
        self._clock = clock

    async def of(self, run_id: RunId, *, seconds: float | None) -> Run:
        """The run as it ended, or as it is after this long."""
        run = await self._store.run(run_id)
        give_up_at = None if seconds is None else self._clock.seconds() + seconds
        look = SHARED_LOOK_SECONDS if self._store.shared else LOOK_SECONDS
        with self._bell.listen(StreamId(run.session_id)) as ear:
            while not (run := await self._store.run(run_id)).ended:
                left = look if give_up_at is None else give_up_at - self._clock.seconds()
                if left <= 0:
                    break
                await ear.wait(min(left, look))
        return run
