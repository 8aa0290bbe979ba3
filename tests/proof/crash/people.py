"""What all people of the scenario have in common, and who watches what."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from tests.proof.crash.caller import Caller
from tests.proof.crash.model import Gates
from tests.proof.crash.talk import Talk
from tests.proof.crash.watch import Watch, follow_together


class Halfway:
    """Where everyone comes by once, in the middle of something; who is there waits for the others
    if anything is to happen then."""

    def __init__(self, people: int, *, then: Callable[[], None] | None) -> None:
        self._missing = people
        self._then = then
        self._all = anyio.Event()

    async def __call__(self) -> None:
        if self._then is None:
            return
        self._missing -= 1
        if self._missing == 0:
            self._then()
            self._all.set()
        await self._all.wait()


class People:
    def __init__(self, caller: Caller, gates: Gates, folder: Path, halfway: Halfway) -> None:
        self.caller = caller
        self.gates = gates
        self.folder = folder
        self.halfway = halfway
        self._group: anyio.abc.TaskGroup | None = None

    @asynccontextmanager
    async def watching(self) -> AsyncGenerator[None, None]:
        """Those who watch go on watching until this is left."""
        async with anyio.create_task_group() as group:
            self._group = group
            yield
            group.cancel_scope.cancel()

    async def is_calm(self) -> bool:
        """Whether nothing is queued or running."""
        # In this order: a run that starts between the two looks is seen by the second.
        for status in ("queued", "running"):
            found = await self.caller.get(f"/api/runs?status={status}")
            if found is None or found["runs"]:
                return False
        return True

    def follow(self, path: str, log: str) -> Watch:
        assert self._group is not None
        watch = Watch(self.caller, path, log)
        self._group.start_soon(watch.follow)
        return watch

    async def talk(self, **given: Any) -> Talk:
        """A new session with someone in it."""
        session = await self.caller.create("/api/sessions", given)
        assert session is not None
        return self.talk_in(session["id"])

    def talk_in(self, session_id: str) -> Talk:
        return Talk(self.caller, session_id, self.follow(f"/api/sessions/{session_id}", session_id))

    def talks_in(self, session_ids: Sequence[str]) -> list[Talk]:
        """Sessions that are watched through one stream."""
        assert self._group is not None
        watches = [Watch(self.caller, f"/api/sessions/{i}", i) for i in session_ids]
        self._group.start_soon(follow_together, self.caller, watches)
        return [Talk(self.caller, watch.log, watch) for watch in watches]

    async def delete(self, path: str, *ids: str) -> None:
        """Remove it for good; an answer that was lost may have been its 204."""
        self.caller.record.doomed.update(ids)
        await self.caller.ask("DELETE", path)
        self.caller.record.deleted.update(ids)
