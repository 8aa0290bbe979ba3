"""Models that stall, drop, refuse, repeat, split anything anywhere and talk on after a cancel."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from random import Random
from typing import TYPE_CHECKING, Literal

import anyio

from tenuto.agent import prompts
from tenuto.core.error import ModelNotFound
from tenuto.core.meter import Price
from tenuto.core.run import Reason, Usage
from tenuto.core.value import CallId
from tenuto.ports.model import (
    CallPiece,
    CallStarted,
    Finished,
    Model,
    ModelRequest,
    Piece,
    Provider,
    ProviderError,
    ReasoningPiece,
    TextPiece,
    UsagePiece,
)
from tests.proof.sim.loop import turn
from tests.proof.sim.request import check_request, goes_on
from tests.proof.sim.violation import Violation

if TYPE_CHECKING:
    from tests.proof.sim.world import World

WIDE = Model(
    id="sim/wide",
    name="wide",
    provider="sim",
    context_window=100_000,
    capabilities=("tools",),
    price=Price(input=1.0, output=2.0),
)
NARROW = Model(
    id="sim/narrow", name="narrow", provider="sim", context_window=40, capabilities=("tools",)
)
BOTH = {model.id: model for model in (WIDE, NARROW)}


class SimModels:
    """Both models, and the one provider behind them."""

    def __init__(self, world: "World") -> None:
        self._provider = SimProvider(world)

    async def list(self) -> tuple[Sequence[Model], str | None]:
        return tuple(BOTH.values()), WIDE.id

    async def find(self, model_id: str | None) -> Model:
        await turn()
        model = BOTH.get(model_id or WIDE.id)
        if model is None:
            raise ModelNotFound(f"there is no model {model_id}")
        return model

    def small(self, model: Model) -> Model:
        return model

    def provider(self, model: Model) -> Provider:
        return self._provider

    async def close(self) -> None:
        """Nothing is held."""


class SimProvider:
    name = "sim"

    def __init__(self, world: "World") -> None:
        self._world = world
        self._dice = world.dice("model")

    async def models(self) -> Sequence[Model]:
        return tuple(BOTH.values())

    async def close(self) -> None:
        """Nothing is held."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Piece], None]:
        world = self._world
        try:
            run_id = check_request(world, request)
        except Violation as violation:
            world.fail(violation)
            run_id = ""
        answer = SimAnswer(world, self._dice, run_id, request)
        number = world.ledger.begin(run_id, "a provider's stream")
        try:
            for pieces in answer.batches():
                try:
                    await answer.wait()
                except asyncio.CancelledError:
                    if not answer.talks_on():
                        raise
                answer.hear(pieces)
                yield pieces
        finally:
            world.ledger.end(number)


class SimAnswer:
    """One answer, and everything that is wrong with it."""

    def __init__(self, world: "World", dice: Random, run_id: str, request: ModelRequest) -> None:
        self._world = world
        self._dice = dice
        self._temper = world.script.temper
        self._hurry = world.script.hurry
        self._run_id = run_id
        self._parts: list[str] = []
        self._calls: dict[int, int] = {}
        self._kind = ""
        self._talks_on = dice.random() < self._temper * 0.2
        self._lingers = dice.random() < self._temper * 0.2
        self._others = ("ask", "ask", "task", "task") if world.script.people else ()
        self._plain = request.system == prompts.TITLE or not request.tools
        if run_id:
            self._parts = world.ledger.said.setdefault(run_id, [])
            if goes_on(request) and world.ledger.last_said.get(run_id) == TextPiece.__name__:
                # After a break or a cut the text goes on where it was.
                self._kind = TextPiece.__name__

    async def wait(self) -> None:
        chance = self._dice.random()
        try:
            if chance < 0.03 * self._temper:
                await self._world.loop.sleep(20.0)
                self._fault(Reason.PROVIDER_STALLED, None)
            elif chance < 0.5:
                await self._world.loop.sleep(self._dice.random() * self._hurry)
            elif chance < 0.8:
                await turn()
        except asyncio.CancelledError:
            if self._lingers:
                with anyio.CancelScope(shield=True):
                    await anyio.sleep(self._dice.random() * 7)
            raise

    def talks_on(self) -> bool:
        """Whether it says one more thing although it was told to stop; once at most."""
        talks_on, self._talks_on = self._talks_on, False
        return talks_on

    def batches(self) -> Iterator[Sequence[Piece]]:
        dice = self._dice
        if dice.random() < 0.15 * self._temper:
            self._fault(Reason.PROVIDER_ERROR, dice.choice((None, 0.0, 1.0, 40.0)))
        batch: list[Piece] = []
        for piece in self._pieces():
            batch.append(piece)
            if dice.random() < 0.5:
                yield tuple(batch)
                batch.clear()
            if dice.random() < 0.04 * self._temper:
                self._fault(Reason.PROVIDER_ERROR, dice.choice((None, 0.5)))
        if batch:
            yield tuple(batch)

    def _pieces(self) -> Iterator[Piece]:
        dice = self._dice
        if dice.random() < 0.1 * self._temper:
            self._world.ledger.provider_faults.add("no_response")
            yield Finished(reason="end_turn")
            return
        if dice.random() < 0.3:
            for _ in range(dice.randint(1, 2)):
                yield ReasoningPiece(text=self._world.word())
        calls = not self._plain and dice.random() < 0.5
        for _ in range(dice.randint(0 if calls else 1, 3)):
            yield TextPiece(text=self._world.word())
        if calls:
            yield from self._call_pieces()
        if dice.random() < 0.5:
            yield UsagePiece(usage=Usage(input_tokens=3, output_tokens=2))
        reason: Literal["tool_calls", "end_turn"] = "tool_calls" if calls else "end_turn"
        yield Finished(reason="max_tokens" if dice.random() < 0.05 else reason)

    def _call_pieces(self) -> Iterator[Piece]:
        dice = self._dice
        waiting: list[tuple[int, str]] = []
        for index in range(dice.choice((1, 1, 2, 3))):
            name = dice.choice(("look", "look", "change", "change", "todoo", *self._others))
            call_id = dice.choice(("", "call_1", self._world.word().strip()))
            yield CallStarted(index=index, id=CallId(call_id), name=name)
            waiting.append((index, self._arguments()))
        while waiting:
            at = dice.randrange(len(waiting))
            index, text = waiting[at]
            cut = dice.randint(1, len(text))
            yield CallPiece(index=index, text=text[:cut])
            waiting[at] = (index, text[cut:])
            waiting = [item for item in waiting if item[1]]

    def _arguments(self) -> str:
        chance = self._dice.random()
        if chance < 0.1:
            return self._dice.choice(('{"n": ', "[]", "null", '"x"'))
        word = f"again {self._run_id}" if chance < 0.3 else self._world.word().strip()
        arguments = f'{{"n": "{word}"}}'
        self._world.callers[word] = self._run_id
        self._world.ledger.emitted[word] = self._world.ledger.emitted.get(word, 0) + 1
        return arguments

    def hear(self, pieces: Sequence[Piece]) -> None:
        """Note what is said, as parts."""
        for piece in pieces:
            match piece:
                case TextPiece() | ReasoningPiece():
                    kind = type(piece).__name__
                    if self._kind != kind:
                        self._parts.append("")
                        self._kind = kind
                    self._parts[-1] += piece.text
                case CallStarted():
                    self._calls[piece.index] = len(self._parts)
                    self._parts.append("")
                    self._kind = "call"
                case CallPiece():
                    self._parts[self._calls[piece.index]] += piece.text
            self._world.ledger.last_said[self._run_id] = self._kind

    def _fault(self, reason: Reason, retry_after: float | None) -> None:
        self._world.ledger.provider_faults.add(str(reason))
        raise ProviderError(reason, "the provider said no", retry_after=retry_after)
