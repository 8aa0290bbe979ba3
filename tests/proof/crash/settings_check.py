"""What must be true of settings and providers, however often the server died."""

import json
from pathlib import Path

from tests.proof.crash.administrator import GUEST_KEY, HOUSE_KEY, OLD, OLD_KEY, TOOLS_KEY
from tests.proof.crash.record import ClientRecord, Json
from tests.support.model_server import ModelServer
from tests.support.raw import RawApi

KEYS = {"house one": HOUSE_KEY, "guest one": GUEST_KEY}
"""Which key the request for which prompt must have carried."""


async def check_settings(
    api: RawApi, record: ClientRecord, model: ModelServer, folder: Path
) -> None:
    """What was answered is set, what was removed is forgotten, and no key ever came out."""
    now = await api.get("/api/settings")
    wanted, rules = _wishes(record)
    assert wanted.items() <= now.items(), f"{wanted} became {now}"
    assert now["permissions"] == rules, f"{rules} became {now}"
    there = {one["name"]: one for one in (await api.get("/api/providers"))["providers"]}
    for name, given in _providers(record).items():
        assert given.items() <= there.pop(name).items(), f"{name}: {given} became {there}"
    assert set(there) == {"openai", "old"}, there
    assert there["old"]["key"] == "set", "a key of an earlier version was lost"
    await _check_servers(api, record)
    _check_files(folder / "data")
    _check_keys(record, model, folder)


def _wishes(record: ClientRecord) -> tuple[Json, Json]:
    """The settings that were answered, and the rules for single tools."""
    wanted: Json = {}
    rules: Json = {**OLD["permissions"]}
    for answer in record.good("PATCH", "/api/settings"):
        wanted |= {name: value for name, value in answer.sent.items() if name != "permissions"}
        rules |= answer.sent.get("permissions", {})
    return wanted, {tool: rule for tool, rule in rules.items() if rule is not None}


def _providers(record: ClientRecord) -> dict[str, Json]:
    """Those that must be there, and what is known of each."""
    found: dict[str, Json] = {}
    for answer in record.answers:
        name = answer.path.removeprefix("/api/providers/")
        if answer.good and answer.method == "PUT" and name != answer.path:
            given = {key: value for key, value in answer.sent.items() if key != "key"}
            found[name] = found.get(name, {}) | given | {"key": "set", "source": "settings"}
        elif answer.method == "DELETE" and name != answer.path:
            # One that found nothing comes after one whose answer was lost.
            found.pop(name, None)
    return found


async def _check_servers(api: RawApi, record: ClientRecord) -> None:
    there = {one["name"]: one for one in (await api.get("/api/mcp"))["servers"]}
    given = [a.sent for a in record.good("PUT", "/api/mcp/tools")]
    if given:
        tools = there["tools"]
        assert (tools["state"], tools["env"]) == ("off", ["KEY"]), f"{given[-1]} became {tools}"
        assert tools["trust"] is given[-1].get("trust", False), f"{given[-1]} became {tools}"
    if record.good("DELETE", "/api/mcp/visitor"):
        assert "visitor" not in there, "a server that was removed is back"


def _check_files(data: Path) -> None:
    """What was taken over is gone, and nobody can read a key in anything that is there."""
    left = [one.name for one in data.glob("*settings.json*")]
    assert not left, f"an earlier version's file is still there, keys and all: {left}"
    for path in data.iterdir():
        if path.is_file():
            content = path.read_bytes()
            seen = [key for key in (*KEYS.values(), OLD_KEY, TOOLS_KEY) if key.encode() in content]
            assert not seen, f"{path.name} has {seen} in it"
            assert path.stat().st_mode & 0o077 == 0, f"{path.name} can be read by others"


def _check_keys(record: ClientRecord, model: ModelServer, folder: Path) -> None:
    answers = json.dumps([answer.body for answer in record.answers])
    told = answers + (folder / "server.log").read_text(errors="replace")
    assert not [key for key in (*KEYS.values(), TOOLS_KEY) if key in told], "a key was told"
    for exchange in model.exchanges:
        key = next((key for name, key in KEYS.items() if f"{name}: " in exchange.prompt), None)
        if key is not None:
            assert exchange.headers["Authorization"] == f"Bearer {key}", exchange.prompt
