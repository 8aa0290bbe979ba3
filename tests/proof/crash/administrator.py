"""The administrator: sets things and adds providers while everyone works."""

import json
from pathlib import Path
from typing import Any

from tests.proof.crash.people import People

HOUSE_KEY = "key-of-the-house"
GUEST_KEY = "key-of-the-guest"
OLD_KEY = "key-of-old-times"
TOOLS_KEY = "key-of-the-tools"
OLD: dict[str, Any] = {
    "permissions": {"read_file": "allow"},
    "providers": [
        {"name": "old", "kind": "ollama", "base_url": "http://127.0.0.1:9", "key": OLD_KEY}
    ],
}
"""What an earlier version kept, in a file of its own."""


def leave_old_settings(data: Path) -> None:
    """As a server of an earlier version left them, before the first start of this one."""
    data.mkdir(mode=0o700)
    (data / "settings.json").write_text(json.dumps(OLD))
    (data / ".settings.json.0123456789abcdef").write_text(OLD_KEY)


class Administrator:
    def __init__(self, people: People) -> None:
        self._people = people
        self._caller = people.caller
        self._address = {"kind": "openai", "base_url": people.caller.server.model_url}

    async def play(self) -> None:
        """Nothing is said twice: what one answer promised, no later call can make good."""
        await self._set({"permissions": {"fetch_url": "deny", "todo": "ask"}})
        await self._caller.ask("PUT", "/api/providers/house", {**self._address, "key": HOUSE_KEY})
        await self._caller.ask("POST", "/api/providers/test", {"name": "house"})
        await self._have_a_guest()
        # Without a key: the one that is kept stays.
        await self._caller.ask("PUT", "/api/providers/house", {**self._address, "models": ["x"]})
        await self._have_servers()
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

    async def _have_servers(self) -> None:
        """MCP servers are kept as providers are. None is started: that takes longer than a life."""
        off = {"command": "sh", "env": {"KEY": TOOLS_KEY}, "enabled": False}
        await self._caller.ask("PUT", "/api/mcp/tools", off)
        await self._caller.ask("PUT", "/api/mcp/visitor", off)
        await self._caller.ask(
            "PUT", "/api/mcp/tools", {**off, "env": {"KEY": None}, "trust": True}
        )
        await self._caller.ask("POST", "/api/mcp/tools/restart", {})
        await self._caller.ask("DELETE", "/api/mcp/visitor")
        await self._caller.ask("POST", "/api/mcp/none/read", {"uri": "x://y"}, refused=404)
        await self._caller.ask("PUT", "/api/workspaces/default/mcp", {"hash": None}, refused=404)

    async def _set(self, wish: dict[str, object]) -> None:
        await self._caller.ask("PATCH", "/api/settings", wish)
