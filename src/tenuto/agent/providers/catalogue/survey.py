"""What servers of one's own say of their models beside the list that all have.

The list of chat completions names models and little else. Such servers tell the rest elsewhere: the
window that they really give, and whether a model has tools and sees.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Protocol

from msgspec.structs import replace

from tenuto.agent.providers.catalogue.said import CAUTIOUS_WINDOW, Said, said_of
from tenuto.agent.providers.connection.foreign import at, tokens
from tenuto.core.options import Effort
from tenuto.ports.model import ProviderError

SECONDS = 3.0
"""For all that is asked beside the list; whoever waits for the first list waits for this, too."""
AT_ONCE = 4
MOST_SHOWN = 200
"""Models of one Ollama that are looked at; the others are known by their names."""
LARGEST_WINDOW = 32_768
"""That Ollama is asked to give a model by itself: more takes memory that may not be there."""
SET_WINDOW = re.compile(r"^num_ctx\s+(\d{1,9})$", re.MULTILINE)


class Origin(Protocol):
    """The server itself, whatever the path of its base URL."""

    async def get(self, path: str) -> Any: ...

    async def post(self, path: str, body: Any) -> Any: ...


class Surveyor:
    """Completes the list of one server. What it does not tell is as if it had not been asked."""

    def __init__(self, server: Origin) -> None:
        self._server = server
        self._shown: dict[tuple[str, str], Said] = {}

    async def models(self, listing: Any) -> list[Said]:
        """The list, with what else this kind of server says."""
        own = _ollamas(listing)
        data = listing.get("data") if isinstance(listing, dict) else listing
        entries = own or (data if isinstance(data, list) else [])
        said = [one for one in map(said_of, entries) if one]
        look = self._ways().get(_owner(entries))
        try:
            async with asyncio.timeout(SECONDS):
                if own:
                    return await self._ollama(own)
                return await look(said) if look else said
        except (ProviderError, TimeoutError):
            return said

    def _ways(self) -> Mapping[str, Callable[[list[Said]], Awaitable[list[Said]]]]:
        """By the word for the owner of a model, which each server has its own of."""
        return {
            "llamacpp": self._llama_cpp,
            "organization_owner": self._lm_studio,
            "library": self._compatible_ollama,
        }

    async def _llama_cpp(self, said: list[Said]) -> list[Said]:
        if len(said) != 1:
            return said  # It loads one after the other, and tells only of the one that it has.
        props = await self._server.get("/props")
        window = tokens(at(props, "default_generation_settings", "n_ctx"))
        can = {"vision": at(props, "modalities", "vision") is True}
        calls = at(props, "chat_template_caps", "supports_tools")
        template = at(props, "chat_template")
        if isinstance(calls, bool):
            can["tools"] = calls
        elif isinstance(template, str) and template:
            can["tools"] = "tools" in template
        return [replace(said[0], window=window or said[0].window, can={**said[0].can, **can})]

    async def _lm_studio(self, said: list[Said]) -> list[Said]:
        data = at(await self._server.get("/api/v0/models"), "data")
        told = data if isinstance(data, list) else []
        entries = {name: entry for entry in told if isinstance(name := at(entry, "id"), str)}
        return [_of_lm_studio(one, entries.get(one.name)) for one in said]

    async def _compatible_ollama(self, said: list[Said]) -> list[Said]:
        """Here nobody can ask for a window: it is as large as the server makes it."""
        loaded = at(await self._server.get("/api/ps"), "models")
        given = {
            name: tokens(at(one, "context_length"))
            for one in (loaded if isinstance(loaded, list) else ())
            if isinstance(name := at(one, "name"), str)
        }
        shown = await self._ollama([{"name": one.name} for one in said])
        return [
            replace(one, window=given.get(one.name) or min(one.window or 0, CAUTIOUS_WINDOW))
            for one in shown
        ]

    async def _ollama(self, entries: Iterable[Mapping[str, Any]]) -> list[Said]:
        named = [
            (one, str(entry.get("digest") or ""))
            for entry in entries
            if (one := said_of({"id": entry["name"]}))
        ]
        limit = asyncio.Semaphore(AT_ONCE)
        looked = (self._show(one, digest, limit) for one, digest in named[:MOST_SHOWN])
        return [*await asyncio.gather(*looked), *(one for one, _ in named[MOST_SHOWN:])]

    async def _show(self, said: Said, digest: str, limit: asyncio.Semaphore) -> Said:
        key = (said.name, digest)
        if key not in self._shown:
            try:
                async with limit:
                    told = await self._server.post("/api/show", {"model": said.name})
            except ProviderError:
                return said
            self._shown[key] = _of_ollama(said, told)
        return self._shown[key]


def _owner(entries: list[Any]) -> str:
    owner = at(entries[0], "owned_by") if entries else None
    return owner if isinstance(owner, str) else ""


def _ollamas(listing: Any) -> list[Mapping[str, Any]]:
    """The entries of Ollama's own list; empty if it is another's."""
    models = at(listing, "models") if not at(listing, "data") else None
    found = models if isinstance(models, list) else []
    return [one for one in found if isinstance(one, dict) and "name" in one]


def _of_ollama(said: Said, told: Any) -> Said:
    words = at(told, "capabilities")
    info = at(told, "model_info")
    made_for = next(
        (
            tokens(value)
            for field, value in (info.items() if isinstance(info, dict) else ())
            if isinstance(field, str) and field.endswith(".context_length")
        ),
        None,
    )
    chosen = at(told, "parameters")
    set_to = SET_WINDOW.search(chosen) if isinstance(chosen, str) else None
    window = int(set_to[1]) if set_to else min(made_for or CAUTIOUS_WINDOW, LARGEST_WINDOW)
    if not isinstance(words, list):
        return replace(said, window=window)
    can = {"tools": "tools" in words, "vision": "vision" in words, "reasoning": "thinking" in words}
    # Only one family of them can be told how hard; that is known by its name.
    efforts = (Effort.NONE, Effort.HIGH) if can["reasoning"] and "gpt-oss" not in said.name else ()
    chats = "completion" in words
    return replace(said, window=window, can=can, efforts=efforts, chats=chats)


def _of_lm_studio(said: Said, told: Any) -> Said:
    if not isinstance(told, dict) or (more := said_of(told)) is None:
        return said
    # It says which models can call tools, from some version on; before, it says of none.
    says = isinstance(told.get("capabilities"), list)
    can = {"vision": told.get("type") == "vlm", **({"tools": False} if says else {}), **more.can}
    return replace(more, can=can)
