"""Those who watch: each log is followed through every restart, alone or with others."""

from collections.abc import Callable, Sequence
from contextlib import aclosing

import anyio

from tests.oracle.fold import Fold
from tests.proof.crash.caller import Caller
from tests.proof.crash.record import Json

PATIENCE_SECONDS = 20.0


class Watch:
    """Follows one log through every restart and knows what it comes to."""

    def __init__(self, caller: Caller, path: str, log: str) -> None:
        self._caller = caller
        self._path = f"{path}/events"
        self.log = log
        self.cursor = 0
        self.fold = Fold()
        self.over = False
        self._news = anyio.Event()

    async def follow(self) -> None:
        while not self.over:
            async with aclosing(
                self._caller.stream("GET", self._path, after=self.cursor)
            ) as events:
                async for event in events:
                    self.hear(event)

    async def until(self, true: Callable[[Fold], object]) -> None:
        """Wait until this is so, or the session is gone."""
        with anyio.move_on_after(PATIENCE_SECONDS):
            while not self.over and not true(self.fold):
                await self._news.wait()
            return
        runs = [(run["input"], run["status"]) for run in self.fold.runs.values()]
        raise AssertionError(f"{self.log} at {self.cursor} waits in vain: {runs}")

    async def ended(self, run: Json | None) -> Json | None:
        """The run as it ended; None if there is none, or it is gone."""
        if run is None:
            return None
        await self.until(lambda fold: fold.runs.get(run["id"], run).get("finished_at"))
        return self.fold.runs.get(run["id"])

    def hear(self, event: Json) -> None:
        record = self._caller.record
        if event["type"] == "refused":
            self._refused(event["status"])
        elif event["type"] == "snapshot" and self._may_jump:
            self.cursor = record.whole_after[self.log] = event["seq"]
        elif event["type"] == "snapshot" or event["seq"] != self.cursor + 1:
            record.complaints.append(f"{self.log}: after {self.cursor} came {event}")
            self.over = True
        else:
            record.see(self.log, event)
            self.cursor = event["seq"]
            self._apply(event)
        self._news.set()
        self._news = anyio.Event()

    @property
    def _may_jump(self) -> bool:
        """A workspace's log forgets what it said of a deleted session, and says so."""
        return not self.log.startswith("ses_")

    def _apply(self, event: Json) -> None:
        if self._may_jump:
            if event["type"] == "session.deleted":
                self._caller.record.whole_after[self.log] = event["seq"]
            return
        self.fold.apply(event)
        if event["type"] == "session.deleted":
            self.over = True

    def _refused(self, status: int) -> None:
        self.over = True
        if status != 404 or self.log not in self._caller.record.doomed:
            self._caller.record.complaints.append(f"{self.log} cannot be watched: {status}")


async def follow_together(caller: Caller, watches: Sequence[Watch]) -> None:
    """Follow several sessions through one stream; a log that is over leaves the others alone."""
    by_log = {watch.log: watch for watch in watches}
    while going := [watch for watch in watches if not watch.over]:
        query = "&".join(f"session={watch.log}:{watch.cursor}" for watch in going)
        async with aclosing(caller.stream("GET", f"/api/events?{query}")) as events:
            async for event in events:
                if event.get("type") == "refused":
                    caller.record.complaints.append(f"{query}: {event}")
                    return
                if "log" in event:
                    by_log[event["log"]].hear({"type": "refused", "status": 404})
                else:
                    by_log[event.get("session_id") or event["session"]["id"]].hear(event)
