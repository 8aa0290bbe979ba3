"""Folding old deltas away changes nothing that anyone can see, wherever it is broken off."""

from collections import Counter

import aiohttp

from tests.oracle.fold import fold
from tests.proof.crash.record import Json
from tests.support.raw import RawApi


class Snapshots:
    """What could be seen of every session before the server tidied up."""

    def __init__(self, api: RawApi) -> None:
        self._api = api
        self._snapshots: dict[str, Json] = {}
        self._order: list[str] = []

    async def take(self) -> None:
        self._order = await self._listed()
        for session_id in self._order:
            self._snapshots[session_id] = await self._snapshot(session_id)

    async def is_tidy(self) -> bool:
        """Whether no part has more than one delta between two updates any more."""
        runs = [run["id"] for snapshot in self._snapshots.values() for run in snapshot["runs"]]
        try:
            return not any([_is_untidy(await self._replay(run_id)) for run_id in runs])
        except (aiohttp.ClientError, OSError):
            # It is dead just now, as it should be.
            return False

    async def compare(self) -> None:
        """Raises AssertionError if a client could see a difference."""
        assert await self._listed() == self._order, "the list has another order"
        for session_id, snapshot in self._snapshots.items():
            assert await self._snapshot(session_id) == snapshot, session_id
            kept = {message["id"]: message for message in snapshot["messages"]}
            for run in snapshot["runs"]:
                for message in fold(await self._replay(run["id"])).messages:
                    assert kept.get(message["id"], message) == message, message
            await self._check_old_cursor(session_id, snapshot)

    async def _check_old_cursor(self, session_id: str, snapshot: Json) -> None:
        """Who comes with a cursor from before gets a snapshot, never a gap."""
        async with self._api.sse(f"/api/sessions/{session_id}/events", after=0) as stream:
            first = await stream.next()
        if first.event == "snapshot":
            assert first.data["messages"] == snapshot["messages"]
            assert first.id == snapshot["session"]["head"]
        else:
            assert first.id == 1, first

    async def _listed(self) -> list[str]:
        found = await self._api.get("/api/sessions?limit=200")
        return [session["id"] for session in found["sessions"]]

    async def _snapshot(self, session_id: str) -> Json:
        path = f"/api/sessions/{session_id}"
        return {
            "session": await self._api.get(path),
            "messages": (await self._api.get(f"{path}/messages"))["messages"],
            "runs": (await self._api.get(f"{path}/runs"))["runs"],
            "approvals": (await self._api.get(f"{path}/approvals"))["approvals"],
        }

    async def _replay(self, run_id: str) -> list[Json]:
        async with self._api.sse(f"/api/runs/{run_id}/events") as stream:
            return [frame.data for frame in await stream.to_the_end()]


def _is_untidy(events: list[Json]) -> bool:
    deltas: Counter[tuple[str, str]] = Counter()
    for event in events:
        if event["type"] == "part.updated":
            for field in ("text", "input", "output"):
                deltas[event["part"]["id"], field] = 0
        elif event["type"] == "part.delta":
            key = event["part_id"], event.get("field", "text")
            deltas[key] += 1
            if deltas[key] > 1:
                return True
    return False
