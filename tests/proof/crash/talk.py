"""A talk: one person's session, and the patience to see each thing through."""

from typing import Any

from tests.oracle.fold import Fold
from tests.proof.crash.caller import Caller
from tests.proof.crash.record import Json
from tests.proof.crash.watch import Watch


class Talk:
    """One person's session."""

    def __init__(self, caller: Caller, session_id: str, watch: Watch) -> None:
        self.caller = caller
        self.id = session_id
        self.path = f"/api/sessions/{self.id}"
        self.watch = watch

    async def prompt(self, text: str, **how: Any) -> Json | None:
        """Have it accepted once; None if the session is gone."""
        self.caller.record.asked[text] += 1
        return await self.caller.create(f"{self.path}/runs", {"input": text, **how})

    async def again(self, verb: str, text: str, body: Json | None = None) -> Json | None:
        """Retry or edit: ask this text in the place of what was there."""
        self.caller.record.asked[text] += 1
        return await self.caller.create(f"{self.path}/{verb}", body)

    async def settled(self, *runs: Json | None) -> Json | None:
        """The last of these runs as it ended."""
        ended = None
        for run in runs:
            ended = await self.watch.ended(run)
        return ended

    async def speaks(self, run: Json | None) -> None:
        """Wait until something of the run can be seen, or it has ended."""

        def true(fold: Fold) -> bool:
            if run is None or is_over(fold, run):
                return True
            return any(m["parts"] for m in fold.messages if _answers(m, run))

        await self.watch.until(true)

    async def tends(self, run: Json | None) -> None:
        """Wait until the run has started a job, or has ended."""

        def true(fold: Fold) -> bool:
            if run is None or is_over(fold, run):
                return True
            return any(job["run_id"] == run["id"] for job in fold.background.jobs.values())

        await self.watch.until(true)

    async def asks(self, run: Json | None) -> None:
        """Wait until the run asks for permission, or has ended."""
        await self.watch.until(lambda f: run is None or pending(f, run) or is_over(f, run))

    async def works(self, run: Json | None) -> None:
        """Wait until a tool of the run is at work, or the run has ended."""

        def true(fold: Fold) -> bool:
            if run is None or is_over(fold, run):
                return True
            parts = [part for m in fold.messages if _answers(m, run) for part in m["parts"]]
            return any(part.get("state") == "running" for part in parts)

        await self.watch.until(true)

    async def cancel(self, run: Json | None = None) -> None:
        path = self.path if run is None else f"/api/runs/{run['id']}"
        await self.caller.ask("POST", f"{path}/cancel")

    async def undo(self) -> None:
        """Not sent twice without looking: a second one would remove more."""
        before = await self._last_user_message()
        while await self.caller.ask_once("POST", f"{self.path}/undo") is None:
            if await self._last_user_message() != before:
                return

    async def go_on(self, run: Json | None) -> Json | None:
        if run is None:
            return None
        return await self.caller.create(f"/api/runs/{run['id']}/continue")

    async def _last_user_message(self) -> str | None:
        users = [m["id"] for m in await self.messages() if m["role"] == "user"]
        return users[-1] if users else None

    async def messages(self) -> list[Json]:
        found = await self.caller.get(f"{self.path}/messages")
        return list(found["messages"]) if found else []


def _answers(message: Json, run: Json) -> bool:
    return (message["role"], message["run_id"]) == ("assistant", run["id"])


def pending(fold: Fold, run: Json) -> list[Json]:
    asked = fold.approvals.values()
    return [a for a in asked if a["run_id"] == run["id"] and a["state"] == "pending"]


def answered(fold: Fold, approval: Json) -> bool:
    return bool(fold.approvals[approval["id"]]["state"] != "pending")


def is_over(fold: Fold, run: Json) -> bool:
    return bool(fold.runs.get(run["id"], run).get("finished_at"))
