"""A conversation with the real server over real sockets: stopped, killed, steered, switched."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from random import Random
from typing import TypeVar

from tenuto.client import ApiError, Client, RunHandle, SessionHandle
from tenuto.core.run import Mode, WhenBusy
from tests.strict.counter import Counter
from tests.strict.intent import TEXTS
from tests.strict.vendor import VENDORS, Vendor
from tests.support.server import TenutoServer

T = TypeVar("T")
NAMES = ("responses", "anthropic", "chat-openrouter", "chat-local", "ollama")
AT_ANY_ADDRESS = tuple(vendor for vendor in VENDORS if vendor.name in NAMES)
"""Those whose wire says the same wherever they are."""
FATES = ("end", "end", "end", "stop", "kill", "steer", "undo", "retry", "compact", "go on")


def written(folder: Path, url: str, vendors: Sequence[Vendor] = AT_ANY_ADDRESS) -> None:
    """The file that tells the server where these vendors are."""
    root = url.removesuffix("/v1")
    folder.mkdir(parents=True, exist_ok=True)
    tables = [
        f"""
[[providers]]
name = "{vendor.name}"
kind = "{vendor.kind}"
base_url = "{root}/{vendor.name}/v1"
api_key = "no-key"

[[providers.models]]
id = "{vendor.facts.name}"
context_window = {vendor.facts.window}
capabilities = [{", ".join(f'"{able}"' for able in _abilities(vendor))}]
"""
        for vendor in vendors
    ]
    (folder / "tenuto.toml").write_text("\n".join(tables), encoding="utf-8")


class Conversation:
    """One session, drawn from a seed."""

    def __init__(
        self, server: TenutoServer, client: Client, counter: Counter, *, seed: int
    ) -> None:
        self._server = server
        self._client = client
        self._counter = counter
        self._chance = Random(seed)
        self._model = ""
        self.turns = 0
        self.kills = 0
        self.switches = 0

    async def talk(self, turns: int) -> None:
        session = await self._client.create_session()
        while self.turns < turns and not self._counter.refused:
            self._choose()
            await self._turn(session, self._chance.choice(FATES))
            self.turns += 1

    def _choose(self) -> None:
        if not self._model or self._chance.random() < 0.4:
            vendor = self._chance.choice(AT_ANY_ADDRESS)
            chosen = f"{vendor.name}/{vendor.facts.name}"
            self.switches += chosen != self._model
            self._model = chosen

    async def _turn(self, session: SessionHandle, fate: str) -> None:
        match fate:
            case "stop" | "kill" | "steer":
                await self._cut(session, fate)
            case "undo":
                await _if_it_may(session.undo)
            case "retry":
                run = await _if_it_may(session.retry)
                if run is not None:
                    await run.wait()
            case "compact":
                await session.update(model=self._model)
                await _if_it_may(session.compact)
            case _:
                run = await self._prompt(session)
                await run.wait()
                again = await _if_it_may(run.go_on) if fate == "go on" else None
                if again is not None:
                    await again.wait()

    async def _cut(self, session: SessionHandle, fate: str) -> None:
        """Something happens while the model speaks."""
        self._counter.hold()
        run = await self._prompt(session)
        await self._counter.held()
        if fate == "kill":
            self.kills += 1
            await self._server.kill()
            await self._server.start()
        elif fate == "stop":
            await run.cancel()
        else:
            await session.prompt("Rather so.", when_busy=WhenBusy.STEER)
        self._counter.release()
        await run.wait()

    async def _prompt(self, session: SessionHandle) -> RunHandle:
        mode = Mode.CHAT if self._chance.random() < 0.15 else Mode.AGENT
        text = self._chance.choice([text for text in TEXTS if text.strip()])
        return await session.prompt(text, model=self._model, mode=mode)


async def _if_it_may(change: Callable[[], Awaitable[T]]) -> T | None:
    """What it gives; None if there is nothing to change."""
    try:
        return await change()
    except ApiError as refused:
        assert refused.status in (404, 409, 422), refused
        return None


def _abilities(vendor: Vendor) -> list[str]:
    known = vendor.facts
    able = {"tools": known.calls, "vision": known.sees, "reasoning": known.thinks}
    return [name for name, has in able.items() if has]
