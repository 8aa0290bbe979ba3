"""The agent loop: model, tools, model, until there is nothing more to do."""

from collections.abc import Mapping, Sequence
from itertools import groupby

import anyio

from tenuto.agent import prompts
from tenuto.agent.allowance import CALLS, CHARACTERS, Allowance, LimitReached
from tenuto.agent.answer import AnswerBuilder
from tenuto.agent.asking import ask
from tenuto.agent.compaction import old_messages, summarise, window_characters
from tenuto.agent.context import build_turns, files_of, shorten, size_of
from tenuto.agent.flat import without_calls
from tenuto.agent.unmarked import Unmarked
from tenuto.core.error import NotFound
from tenuto.core.message import ToolPart
from tenuto.core.run import Ending, Mode, Reason, RunStatus
from tenuto.core.value import FileId, Value
from tenuto.engine.toolbox import Toolbox
from tenuto.engine.work import Work
from tenuto.ports.clock import Clock
from tenuto.ports.model import Model, ModelRequest, Models, Provider, Turn
from tenuto.ports.points import NOWHERE, Points
from tenuto.ports.query import Background


class RunLimits(Value):
    """How far one run may go."""

    steps: int
    loop_repeats: int
    cost_usd: float | None
    """None: no limit."""
    run_characters: int = CHARACTERS
    calls: int = CALLS
    """In one answer."""


class AgentLoop:
    def __init__(
        self,
        models: Models,
        toolbox: Toolbox,
        limits: RunLimits,
        clock: Clock,
        *,
        points: Points = NOWHERE,
    ) -> None:
        self._points = points
        self._models = models
        self._toolbox = toolbox
        self._limits = limits
        self._clock = clock

    async def work(self, work: Work) -> Ending:
        model = await self._models.find(work.model)
        work.price = model.price
        provider = self._models.provider(model)
        if work.run.model is None:
            provider = Unmarked(provider)
        allowance = Allowance(
            characters=self._limits.run_characters,
            calls=self._limits.calls,
            is_too_dear=lambda: self._is_too_dear(work),
        )
        try:
            if work.run.mode is Mode.COMPACT:
                return await self._compact(work, model, provider, allowance)
            return await self._answer(work, model, provider, allowance)
        except LimitReached as limit:
            return Ending.failed(limit.reason, str(limit))

    async def _answer(
        self, work: Work, model: Model, provider: Provider, allowance: Allowance
    ) -> Ending:
        repeats = _Repeats(self._limits.loop_repeats)
        for step in range(1, self._limits.steps + 1):
            answer = await self._step(work, model, provider, allowance, step)
            calls = answer.calls()
            if not calls or _was_cut(answer):
                return _ending(work, answer)
            done = await self._use_tools(work, calls)
            if repeats.again(done):
                return Ending(status=RunStatus.COMPLETED, reason=Reason.LOOP)
            allowance.store(sum(len(part.output or "") for part in done))
            allowance.must_be_cheap()
            await work.take_steers()
        return Ending(status=RunStatus.COMPLETED, reason=Reason.STEP_LIMIT)

    async def _step(
        self, work: Work, model: Model, provider: Provider, allowance: Allowance, step: int
    ) -> AnswerBuilder:
        request = await self._request(work, model, provider, allowance)
        # Making room may have cost something too.
        allowance.must_be_cheap()
        stem = f"{work.recorder.message_id.removeprefix('msg_')}_{step}"
        answer = AnswerBuilder(work.recorder, work.meter, allowance, stem=stem)
        await ask(
            provider,
            request,
            meter=work.meter,
            taker=answer,
            shown=lambda: answer.shown,
            room=work.recorder.room,
            points=self._points,
        )
        return answer

    async def _request(
        self, work: Work, model: Model, provider: Provider, allowance: Allowance
    ) -> ModelRequest:
        agent = work.run.mode is Mode.AGENT and "tools" in model.capabilities
        background = await work.background()
        turns = _told(background, {})
        if size_of(turns, background.summary or "") > window_characters(model):
            background = await self._make_room(work, model, provider, allowance, background)
            turns = _told(background, {})
        system = work.session.system or (
            prompts.agent_system(await work.folder(), self._clock.now()) if agent else prompts.CHAT
        )
        if files := await _read_files(work, background):
            turns = _told(background, files)
        turns = shorten(turns, to=window_characters(model))
        return ModelRequest(
            model=model.id.removeprefix(f"{model.provider}/"),
            system=prompts.with_summary(system, background.summary),
            turns=turns if agent else without_calls(turns),
            tools=self._toolbox.specs() if agent else (),
        )

    async def _use_tools(self, work: Work, calls: Sequence[ToolPart]) -> tuple[ToolPart, ...]:
        """Calls that only look run side by side; those that change something one by one."""
        done: list[ToolPart] = []
        for looking, group in groupby(calls, key=self._toolbox.only_looks):
            if not looking:
                done += [await self._toolbox.run(work, call) for call in group]
                continue
            together = list(group)
            results: dict[str, ToolPart] = {}

            async def one(call: ToolPart, results: dict[str, ToolPart] = results) -> None:
                results[call.id] = await self._toolbox.run(work, call)

            try:
                async with anyio.create_task_group() as tasks:
                    for call in together:
                        tasks.start_soon(one, call)
            except ExceptionGroup as several:
                # One cause is enough to end the run, and whoever ends it must know which.
                raise several.exceptions[0] from several
            done += [results[call.id] for call in together]
        return tuple(done)

    async def _compact(
        self, work: Work, model: Model, provider: Provider, allowance: Allowance
    ) -> Ending:
        background = await work.background()
        count = len(background.messages)
        if count:
            await self._summarise(work, model, provider, allowance, background, count)
        return Ending(status=RunStatus.COMPLETED, reason=Reason.END_TURN)

    async def _make_room(
        self,
        work: Work,
        model: Model,
        provider: Provider,
        allowance: Allowance,
        background: Background,
    ) -> Background:
        """Summarise what came before this run's prompt; if there is nothing, leave it as it is."""
        old = old_messages(background)
        if not old:
            return background
        await self._summarise(work, model, provider, allowance, background, len(old))
        return await work.background()

    async def _summarise(
        self,
        work: Work,
        model: Model,
        provider: Provider,
        allowance: Allowance,
        background: Background,
        count: int,
    ) -> None:
        messages = background.messages[:count]
        summary = await summarise(
            provider,
            model,
            summary=background.summary,
            messages=messages,
            meter=work.meter,
            allowance=allowance,
            points=self._points,
        )
        await work.compact(messages[-1].id, summary)

    def _is_too_dear(self, work: Work) -> bool:
        limit = self._limits.cost_usd
        return limit is not None and (work.usage().cost_usd or 0.0) >= limit


class _Repeats:
    """Notices a model that makes the same calls and gets the same results, over and over."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._last: object = None
        self._count = 0

    def again(self, done: Sequence[ToolPart]) -> bool:
        now = tuple((part.name, part.input_text, part.output, part.error) for part in done)
        self._count = self._count + 1 if now == self._last else 1
        self._last = now
        return self._count >= self._limit


async def _read_files(work: Work, background: Background) -> dict[FileId, bytes]:
    files: dict[FileId, bytes] = {}
    for file_id in files_of(background.messages):
        try:
            files[file_id] = await work.file_content(file_id)
        except NotFound:
            # The context builder tells the model that the file is gone.
            continue
    return files


def _told(background: Background, files: Mapping[FileId, bytes]) -> tuple[Turn, ...]:
    # An answer that has not begun is not told.
    return build_turns([m for m in background.messages if m.parts or m.finish_reason], files)


def _was_cut(answer: AnswerBuilder) -> bool:
    return answer.finished is not None and answer.finished.reason in (
        "max_tokens",
        "content_filter",
    )


def _ending(work: Work, answer: AnswerBuilder) -> Ending:
    if not work.recorder.message().parts:
        return Ending.failed(
            Reason.NO_RESPONSE, "The model ended its answer without saying anything."
        )
    reason = answer.finished.reason if answer.finished else "end_turn"
    if reason == "tool_calls":
        reason = "end_turn"
    return Ending(status=RunStatus.COMPLETED, reason=Reason(reason))
