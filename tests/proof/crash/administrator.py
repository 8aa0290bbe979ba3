"""The administrator: sets things and adds providers while everyone works."""

import json
import stat
from contextlib import suppress
from pathlib import Path

import anyio

from tests.proof.crash.people import People

HOUSE_KEY = "key-of-the-house"
GUEST_KEY = "key-of-the-guest"
LOOK_SECONDS = 0.01


class Administrator:
    def __init__(self, people: People) -> None:
        self._people = people
        self._caller = people.caller
        self._address = {"kind": "openai", "base_url": people.caller.server.model_url}

    async def play(self) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(self._look_at_the_file)
            await self._administer()
            group.cancel_scope.cancel()

    async def _administer(self) -> None:
        """Nothing is said twice: what one answer promised, no later call can make good."""
        await self._set({"permissions": {"fetch_url": "deny", "todo": "ask"}})
        await self._caller.ask("PUT", "/api/providers/house", {**self._address, "key": HOUSE_KEY})
        await self._caller.ask("POST", "/api/providers/test", {"name": "house"})
        await self._have_a_guest()
        # Without a key: the one that is kept stays.
        await self._caller.ask("PUT", "/api/providers/house", {**self._address, "models": ["x"]})
        await self._set({"default_model": "house/test-model", "titles": True})
        await self._set({"permission_default": "ask", "permissions": {"todo": None}})
        await self._caller.ask("POST", "/api/models/refresh")
        talk = await self._people.talk(title="House")
        await talk.settled(await talk.prompt("house one: say"))

    async def _have_a_guest(self) -> None:
        """A provider that is removed in the middle of an answer of its own."""
        await self._caller.ask("PUT", "/api/providers/guest", {**self._address, "key": GUEST_KEY})
        talk = await self._people.talk(title="Guest", model="guest/test-model")
        run = await talk.prompt("guest one: gate")
        await talk.speaks(run)
        await self._people.halfway()
        await self._caller.ask("DELETE", "/api/providers/guest")
        self._people.gates.open("guest one")
        await talk.settled(run)

    async def _set(self, wish: dict[str, object]) -> None:
        await self._caller.ask("PATCH", "/api/settings", wish)

    async def _look_at_the_file(self) -> None:
        """Whoever looks, at any moment, finds it whole, and its owner's only."""
        folder = self._people.folder / "data"
        while True:
            for path in folder.glob("*settings.json*"):
                # A draft may be gone again.
                with suppress(FileNotFoundError):
                    self._look_at(path)
            await anyio.sleep(LOOK_SECONDS)

    def _look_at(self, path: Path) -> None:
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode != 0o600:
            self._caller.record.complaints.append(f"{path.name} can be read by others: {mode:o}")
        if path.name == "settings.json":
            try:
                json.loads(path.read_bytes())
            except ValueError as error:
                self._caller.record.complaints.append(f"{path.name} is not whole: {error}")
