"""Short ways to ask a provider and to hear its answer."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence

from tenuto.ports.model import (
    CallPiece,
    ModelRequest,
    Piece,
    Provider,
    ReasoningPiece,
    TextBlock,
    TextPiece,
    UserTurn,
)
from tests.support.model_server import Exchange, ModelServer


def user(text: str) -> UserTurn:
    return UserTurn(blocks=(TextBlock(text=text),))


REQUEST = ModelRequest(model="test-model", system="", turns=(user("Hi"),))


class Hearing:
    """Collects an answer in the background, as far as it has come."""

    def __init__(self, answer: AsyncGenerator[Sequence[Piece], None]) -> None:
        self.pieces: list[Piece] = []
        self._came = asyncio.Event()
        self._answer = answer
        self.task = asyncio.create_task(self._hear())

    async def _hear(self) -> list[Piece]:
        try:
            async for pieces in self._answer:
                self.pieces += pieces
                self._came.set()
        finally:
            await self._answer.aclose()
        return self.pieces

    async def until(self, piece: Piece) -> None:
        """Wait until this piece has come."""
        async with asyncio.timeout(10):
            while piece not in self.pieces:
                await self._came.wait()
                self._came.clear()

    async def all(self) -> list[Piece]:
        async with asyncio.timeout(10):
            return await self.task


async def begin(
    provider: Provider, server: ModelServer, request: ModelRequest = REQUEST
) -> tuple[Hearing, Exchange]:
    hearing = Hearing(provider.stream(request))
    return hearing, await server.next_request()


async def until(condition: Callable[[], bool]) -> None:
    """Wait until this is so; fail if it never is."""
    for _ in range(1500):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came true")


def texts(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))


def thoughts(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, ReasoningPiece))


def arguments(pieces: Sequence[Piece], index: int) -> str:
    calls = [piece for piece in pieces if isinstance(piece, CallPiece)]
    return "".join(piece.text for piece in calls if piece.index == index)
