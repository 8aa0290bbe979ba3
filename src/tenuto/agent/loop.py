"""The agent loop: model, tools, model, until there is nothing more to do."""

from collections.abc import Sequence
from functools import partial
from itertools import groupby

import anyio

from tenuto.agent.allowance import CALLS, CHARACTERS, Allowance, LimitReached
from tenuto.agent.answer import AnswerBuilder
from tenuto.agent.asker import Asker
from tenuto.agent.repeats import Repeats
from tenuto.agent.retries import SECONDS, Retries
from tenuto.agent.room import LookAround, Room
from tenuto.agent.ruler import Rulers
from tenuto.agent.summary import Summariser
from tenuto.agent.unmarked import Unmarked
from tenuto.core.message import ToolPart
from tenuto.core.run import Ending, Mode, Reason, RunStatus
from tenuto.core.value import Value
from tenuto.engine.kit import Kit
from tenuto.engine.toolbox import Toolbox
from tenuto.engine.work import Work
from tenuto.ports.clock import Clock
from tenuto.ports.model import Model, Models, Provider, ProviderError, ToolSpec, Trouble
from tenuto.ports.points import NOWHERE, Points

CUT_CALL = (
    "Your answer reached its limit inside this call, so it was not done. Write less at a time: "
    "for a long file, a first part with write_file and the rest with edit_file."
)
NO_PRICE = (
    "The price of this model is not known, so the cost limit of a run cannot be kept: set the "
    "model's price in tenuto.toml, choose another model, or lift the limit (limits.cost_usd)."
)
LOOP = Ending(status=RunStatus.COMPLETED, reason=Reason.LOOP)
MOST_TOO_LONG = 2
"""Refusals for length, each followed by a smaller request."""


class RunLimits(Value):
    """How far one run may go."""

    steps: int
    loop_repeats: int
    cost_usd: float | None
    """None: no limit."""
    run_characters: int = CHARACTERS
    calls: int = CALLS
    """In one answer."""
    retry_seconds: float = SECONDS
    """The longest wait that a provider may ask for."""


class AgentLoop:
    def __init__(
        self,
        models: Models,
        toolbox: Toolbox,
        limits: RunLimits,
        clock: Clock,
        *,
        surroundings: LookAround,
        points: Points = NOWHERE,
    ) -> None:
        self._points = points
        self._surroundings = surroundings
        self._models = models
        self._toolbox = toolbox
        self._limits = limits
        self._clock = clock
        self._rulers = Rulers()

    async def work(self, work: Work) -> Ending:
        model = await self._models.find(work.model)
        if self._limits.cost_usd is not None and model.price is None:
            return Ending.failed(Reason.BUDGET, NO_PRICE)
        allowance = Allowance(
            characters=self._limits.run_characters,
            calls=self._limits.calls,
            is_too_dear=lambda: self._is_too_dear(work),
        )
        room = self._room(work, model, allowance)
        try:
            if work.run.mode is Mode.COMPACT:
                await room.compact()
                return Ending(status=RunStatus.COMPLETED, reason=Reason.END_TURN)
            return await self._answer(work, model, room, allowance)
        except LimitReached as limit:
            return Ending.failed(limit.reason, str(limit))

    async def _answer(self, work: Work, model: Model, room: Room, allowance: Allowance) -> Ending:
        repeats = Repeats(self._limits.loop_repeats)
        retries = self._retries(work)
        asker = Asker(
            work, model, self._provider(work, model), allowance, retries, points=self._points
        )
        if work.pause is not None and await self._use_tools(work, _left(work), repeats, allowance):
            return LOOP
        while work.step < self._limits.steps:
            work.step += 1
            answer = await self._step(work, model, room, asker, allowance, work.step)
            if asker.goes_on:
                continue
            if not answer.calls() or answer.was_filtered:
                return _ending(work, answer)
            calls = answer.fail_cut_call(CUT_CALL)
            if await self._use_tools(work, calls, repeats, allowance):
                return LOOP
        return Ending(status=RunStatus.COMPLETED, reason=Reason.STEP_LIMIT)

    async def _use_tools(
        self, work: Work, calls: Sequence[ToolPart], repeats: Repeats, allowance: Allowance
    ) -> bool:
        """Do the calls of a step; whether it was made too often."""
        done = await self._do(work, calls, await self._toolbox.for_run(work))
        if repeats.again(done):
            return True
        allowance.store(sum(len(part.output or "") for part in done))
        allowance.must_be_cheap()
        await work.take_steers()
        return False

    async def _step(
        self,
        work: Work,
        model: Model,
        room: Room,
        asker: Asker,
        allowance: Allowance,
        step: int,
    ) -> AnswerBuilder:
        """Ask once; again, with less, if it was too long."""
        await work.mentions.take()
        for refusals in range(MOST_TOO_LONG + 1):
            request = await room.request()
            # Making room may have cost something too.
            allowance.must_be_cheap()
            try:
                answer = await asker.ask(request, step, size=room.sent)
                break
            except ProviderError as error:
                if error.trouble is not Trouble.TOO_LONG or refusals == MOST_TOO_LONG:
                    raise
                room.was_too_long()
        if used := work.meter.last:
            self._rulers.learn(work.session.id, model.id, size=room.sent, tokens=used.input_tokens)
        return answer

    def _provider(self, work: Work, model: Model) -> Provider:
        provider = self._models.provider(model)
        return Unmarked(provider) if work.run.model is None else provider

    def _room(self, work: Work, model: Model, allowance: Allowance) -> Room:
        small = self._models.small(model)
        summariser = Summariser(
            self._provider(work, small),
            small,
            meter=work.meter,
            allowance=allowance,
            retries=self._retries(work),
            points=self._points,
        )
        return Room(
            work,
            model,
            tools=partial(self._specs, work),
            ruler=lambda: self._rulers.of(work.session.id, model.id),
            summariser=summariser,
            clock=self._clock,
            surroundings=self._surroundings,
        )

    def _retries(self, work: Work) -> Retries:
        return Retries(self._clock, seconds=self._limits.retry_seconds, tell=work.wait)

    async def _specs(self, work: Work) -> tuple[ToolSpec, ...]:
        return (await self._toolbox.for_run(work)).specs()

    async def _do(self, work: Work, calls: Sequence[ToolPart], kit: Kit) -> tuple[ToolPart, ...]:
        """Calls that only look or wait run side by side; those that change something one by one."""
        done = [call for call in calls if not call.unfinished]
        waiting = [call for call in calls if call.unfinished]
        for together, group in groupby(waiting, key=kit.beside_others):
            if not together:
                done += [await self._toolbox.run(work, call, kit) for call in group]
                continue
            several = list(group)
            results: dict[str, ToolPart] = {}

            async def one(call: ToolPart, results: dict[str, ToolPart] = results) -> None:
                results[call.id] = await self._toolbox.run(work, call, kit)

            try:
                async with anyio.create_task_group() as tasks:
                    for call in several:
                        tasks.start_soon(one, call)
            except ExceptionGroup as failures:
                # One cause is enough to end the run, and whoever ends it must know which.
                raise failures.exceptions[0] from failures
            done += [results[call.id] for call in several]
        return tuple(done)

    def _is_too_dear(self, work: Work) -> bool:
        limit = self._limits.cost_usd
        return limit is not None and work.usage().with_children_usd >= limit


def _left(work: Work) -> tuple[ToolPart, ...]:
    """The calls that a pause has left to do: whatever came before them has ended."""
    calls = (part for part in work.recorder.message().parts if isinstance(part, ToolPart))
    return tuple(call for call in calls if call.unfinished)


def _ending(work: Work, answer: AnswerBuilder) -> Ending:
    if not work.recorder.message().parts:
        return Ending.failed(
            Reason.NO_RESPONSE, "The model ended its answer without saying anything."
        )
    reason = answer.finished.reason if answer.finished else "end_turn"
    if reason == "tool_calls":
        reason = "end_turn"
    return Ending(status=RunStatus.COMPLETED, reason=Reason(reason))
