"""A model that a person has as a file."""

import asyncio
import logging
import re
from pathlib import Path

from tenuto.agent.providers.embedded.gguf import Header, NoModel, header_of
from tenuto.agent.providers.embedded.sheet import Sheet
from tenuto.core.run import Reason
from tenuto.ports.model import ProviderError

log = logging.getLogger(__name__)

SMALLEST_WINDOW = 512


class OwnFile:
    """Stays where it is; what it can is read from its head, once."""

    here = True

    def __init__(self, path: Path, *, window: int) -> None:
        self._path = path
        self._window = window
        self._header: Header | None = None

    async def path(self) -> Path:
        """Raises ProviderError if there is no model in it."""
        try:
            self._header = await asyncio.to_thread(header_of, self._path)
        except NoModel as why:
            words = f"the model in {self._path.name} cannot be used: {why}"
            raise ProviderError(Reason.PROVIDER_ERROR, words) from why
        return self._path

    async def sheet(self) -> Sheet:
        if self._header is None:
            try:
                await self.path()
            except ProviderError as error:
                log.warning("%s", error)
        header = self._header or Header(window=None, has_tools=False)
        return Sheet(
            name=re.sub(r"\s+", "-", self._path.stem.lower())[:200] or "model",
            window=max(min(header.window or self._window, self._window), SMALLEST_WINDOW),
            capabilities=("tools",) if header.has_tools else (),
        )
