"""Unmarked: a provider whose answers carry no mark of whose they are."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from msgspec.structs import replace

from tenuto.core.value import CallId
from tenuto.ports.model import CallStarted, Model, ModelRequest, Notice, Piece, Provider, SealPiece

OURS = CallId("")
"""The answer's builder gives a call without an id one of ours."""


class Unmarked:
    """Each provider numbers, seals and refuses in a way of its own: none of it is passed on."""

    def __init__(self, provider: Provider) -> None:
        self.name = provider.name
        self._provider = provider

    async def models(self) -> Sequence[Model]:
        return await self._provider.models()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Piece], None]:
        async with aclosing(self._provider.stream(request)) as answer:
            async for pieces in answer:
                yield [
                    replace(piece, id=OURS, seal=None) if isinstance(piece, CallStarted) else piece
                    for piece in pieces
                    if not isinstance(piece, SealPiece | Notice)
                ]

    async def close(self) -> None:
        await self._provider.close()
