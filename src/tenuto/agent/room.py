"""Makes each request of one run fit into its model's window, whatever the run has grown to."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from tenuto.agent import prompts
from tenuto.agent.compaction import find_cut
from tenuto.agent.context import build_turns, files_of
from tenuto.agent.flat import without_calls
from tenuto.agent.ruler import Ruler
from tenuto.agent.sizes import size_of
from tenuto.agent.summary import Summariser, with_request
from tenuto.agent.surroundings import Surroundings
from tenuto.agent.trimming import clear_old, squeeze
from tenuto.core.error import NotFound
from tenuto.core.job import Job
from tenuto.core.options import NO_OPTIONS
from tenuto.core.run import Mode
from tenuto.core.value import FileId, Instant
from tenuto.engine.work import Work
from tenuto.ports.clock import Clock
from tenuto.ports.model import Model, ModelRequest, ProviderError, ToolSpec, Turn
from tenuto.ports.query import Background

log = logging.getLogger(__name__)

FULL = 0.85
"""How much of the window may be used before what is old is summed up."""
ANSWER_TOKENS = 8_000
"""Left for the answer, but no more than a quarter of the window."""
KEPT = 0.2
KEPT_TOKENS = 10_000
"""What stays as it is when the rest is summed up: so much, or this share of the window."""
LESS = 0.6
"""Of what was refused for its length."""
MOST_CUTS = 2
"""Summaries for one request."""


LookAround = Callable[[Path, Instant], Awaitable[Surroundings]]


Offer = Callable[[], Awaitable[tuple[ToolSpec, ...]]]
"""The tools that the next request offers."""


class Ruling(Protocol):
    def __call__(self) -> Ruler: ...


class Room:
    def __init__(
        self,
        work: Work,
        model: Model,
        *,
        tools: Offer,
        ruler: Ruling,
        summariser: Summariser,
        clock: Clock,
        surroundings: LookAround,
    ) -> None:
        self._work = work
        self._model = model
        self._agent = work.run.mode is Mode.AGENT and "tools" in model.capabilities
        self._offer = tools
        self._ruler = ruler
        self._summariser = summariser
        self._clock = clock
        self._told = self._around = 0
        self._most: int | None = None
        self._files: dict[FileId, bytes] = {}
        self._first: str | None = None
        self._surroundings = surroundings

    async def request(self) -> ModelRequest:
        background = await self._work.background()
        system = await self._system()
        # What a provider has kept begins with the tools: it stays as long as they stay the same.
        tools = await self._offer() if self._agent else ()
        around = size_of((), system, tools)
        most = self._limit() - around
        if self._most is not None:
            most = min(most, self._most)
        turns = await self._turns(background)
        told = size_of(turns, background.summary or "")
        for _ in range(MOST_CUTS):
            if told <= most or (smaller := await self._sum_up(background)) is None:
                break
            background = smaller
            turns = await self._turns(background)
            told = size_of(turns, background.summary or "")
        if told > most:
            turns = squeeze(turns, to=most - size_of((), background.summary or ""))
            told = size_of(turns, background.summary or "")
        self._told, self._around = told, around
        return ModelRequest(
            model=self._model.name,
            system=prompts.with_summary(system, background.summary),
            turns=turns if self._agent else without_calls(turns),
            tools=tools,
            effort=self._work.run.effort,
            options=self._work.run.options or NO_OPTIONS,
            cache_key=self._work.session.id,
        )

    @property
    def sent(self) -> int:
        """The size of the last request."""
        return self._told + self._around

    def was_too_long(self) -> None:
        """The last request was refused for its length: the next one is smaller."""
        self._most = int(self._told * LESS)

    async def compact(self) -> None:
        """Sum up all that there is."""
        background = await self._work.background()
        if background.messages:
            summary = await self._summariser.summarise(background.summary, background.messages)
            await self._work.compact(background.messages[-1].id, summary)

    def _limit(self) -> int:
        window = self._model.context_window
        answer = min(self._model.max_output or ANSWER_TOKENS, ANSWER_TOKENS, window // 4)
        return self._ruler().bytes(int(min(window * FULL, window - answer)))

    async def _turns(self, background: Background) -> tuple[Turn, ...]:
        files = await self._read_files(background)
        turns = _told(background, files, await self._work.mentions.told())
        return clear_old(turns, window=self._ruler().bytes(self._model.context_window))

    async def _sum_up(self, background: Background) -> Background | None:
        """None if it cannot be made smaller: then what is old is cut instead."""
        window = self._model.context_window
        tokens = min(KEPT_TOKENS, int(window * KEPT))
        cut = find_cut(background.messages, keep=self._ruler().bytes(tokens))
        if cut is None or not cut.messages:
            return None
        try:
            summary = await self._summariser.summarise(background.summary, cut.messages)
        except ProviderError as error:
            log.warning("no summary: %s", error, extra={"run_id": self._work.run.id})
            return None
        if cut.part is not None:
            summary = with_request(summary, cut.messages)
        await self._work.compact(cut.messages[-1].id, summary, part=cut.part)
        return await self._work.background()

    async def _system(self) -> str:
        """Looked up once in a run: what comes first must stay as it is, or nothing is cached."""
        if self._first is None:
            self._first = prompts.with_own(await self._before_own(), self._work.session.system)
        return self._first

    async def _before_own(self) -> str:
        if not self._agent:
            return prompts.CHAT
        folder, now = await self._work.folder(), self._clock.now()
        system = prompts.agent_system(await self._surroundings(folder, now))
        return prompts.for_sub_agent(system) if self._work.session.parent else system

    async def _read_files(self, background: Background) -> Mapping[FileId, bytes]:
        """Each is read once in a run."""
        for file_id in files_of(background.messages):
            if file_id in self._files:
                continue
            try:
                self._files[file_id] = await self._work.file_content(file_id)
            except NotFound:
                # The context builder tells the model that the file is gone.
                continue
        return self._files


def _told(
    background: Background, files: Mapping[FileId, bytes], jobs: Sequence[Job]
) -> tuple[Turn, ...]:
    # An answer that has not begun is not told.
    messages = [m for m in background.messages if m.parts or m.finish_reason]
    return build_turns(messages, files, jobs)
