"""Asks the model of one run, step by step, and goes on where an answer was cut or broke off."""

from tenuto.agent.allowance import Allowance
from tenuto.agent.answer import AnswerBuilder
from tenuto.agent.asking import ask
from tenuto.agent.retries import Retries
from tenuto.core.message import TextPart
from tenuto.engine.work import Work
from tenuto.ports.model import Model, ModelRequest, Provider, ProviderError
from tenuto.ports.points import NOWHERE, Points

MOST_BREAKS = 3
"""Of streams in one run, after something was shown."""
MOST_CUTS = 2
"""Of answers in one run that reached their limit."""
BROKEN_CALL = (
    "The connection broke while this call was being written, so it was not done. Write it anew."
)


class Asker:
    def __init__(
        self,
        work: Work,
        model: Model,
        provider: Provider,
        allowance: Allowance,
        retries: Retries,
        *,
        points: Points = NOWHERE,
    ) -> None:
        self._work = work
        self._model = model
        self._provider = provider
        self._allowance = allowance
        self._retries = retries
        self._points = points
        self._breaks = 0
        self._cuts = 0
        self.goes_on = False
        """Whether the last answer was not whole: the next goes on where it ended."""

    async def ask(self, request: ModelRequest, step: int, *, size: int) -> AnswerBuilder:
        """Raises ProviderError when there is no more hope."""
        answer = self._answer(step)
        try:
            await ask(
                self._provider,
                request,
                meter=self._work.meter,
                price=self._model.price,
                size=size,
                taker=answer,
                retries=self._retries,
                shown=lambda: answer.shown,
                room=self._work.recorder.room,
                points=self._points,
            )
        except ProviderError as error:
            answer.end()
            if not answer.shown:
                raise
            await self._recover(answer, error)
        else:
            self.goes_on = self._was_cut(answer)
        if answer.notices:
            await self._work.notice(tuple(answer.notices))
        return answer

    def _answer(self, step: int) -> AnswerBuilder:
        recorder = self._work.recorder
        stem = f"{recorder.message_id.removeprefix('msg_')}_{step}"
        parts = recorder.message().parts if self.goes_on else ()
        last = parts[-1] if parts else None
        return AnswerBuilder(
            recorder,
            self._work.meter,
            self._allowance,
            stem=stem,
            onto=last if isinstance(last, TextPart) else None,
        )

    async def _recover(self, answer: AnswerBuilder, error: ProviderError) -> None:
        """Wait until the answer can go on. Raises the error if it broke too often."""
        self._breaks += 1
        if self._breaks > MOST_BREAKS:
            raise error
        seconds = self._retries.seconds(error, self._breaks)
        answer.fail_calls(BROKEN_CALL)
        await self._retries.wait(seconds, error, self._breaks)
        self.goes_on = True

    def _was_cut(self, answer: AnswerBuilder) -> bool:
        """At a limit that nobody wished for, and not only in its thoughts."""
        wished = self._work.run.options and self._work.run.options.max_output_tokens
        if not answer.was_cut or answer.calls() or wished or not answer.said:
            return False
        self._cuts += 1
        return self._cuts <= MOST_CUTS
