"""Kept values in a memory store."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from anyio.lowlevel import checkpoint

from tenuto.core.error import Conflict
from tenuto.ports.store import KeptValue, Sink
from tenuto.storage.memory.session_rows import State


class MemoryKeeping(ABC):
    _state: State

    @abstractmethod
    def _others(self) -> Sequence[Sink]:
        """The sinks of other nodes."""

    async def kept(self, name: str) -> KeptValue | None:
        return self._state.kept.get(name)

    async def keep(self, name: str, body: bytes, *, rev: int) -> int:
        await checkpoint()
        known = self._state.kept.get(name)
        if rev != (known.rev if known else 0):
            raise Conflict(f"{name} was changed meanwhile")
        self._state.kept[name] = KeptValue(body=body, rev=rev + 1)
        for sink in self._others():
            sink.rang_kept(name)
        await checkpoint()
        return rev + 1
