"""Titles: a few words that a model finds for a conversation."""

from tenuto.agent import prompts
from tenuto.agent.allowance import Allowance, LimitReached
from tenuto.agent.answer import Listener
from tenuto.agent.asking import ask
from tenuto.agent.retries import Retries
from tenuto.core.meter import Meter
from tenuto.core.options import Effort
from tenuto.core.run import Run
from tenuto.core.value import SessionId
from tenuto.engine.titler import Titled
from tenuto.ports.clock import Clock
from tenuto.ports.model import ModelRequest, Models, TextBlock, UserTurn
from tenuto.ports.points import NOWHERE, Points
from tenuto.ports.store import Insides

SHOWN_CHARACTERS = 2_000
LONGEST = 80
HEARD_CHARACTERS = 1_000_000
"""Of an answer that should be a few words; thoughts count too."""
TOO_SMALL = "embedded"
"""The embedded model makes titles that mislead; the first words of the prompt do not."""


class TitleMaker:
    def __init__(
        self, store: Insides, models: Models, clock: Clock, *, points: Points = NOWHERE
    ) -> None:
        self._store = store
        self._points = points
        self._models = models
        self._retries = Retries(clock)

    async def make(self, session_id: SessionId, run: Run) -> Titled | None:
        """A title for the conversation so far, and what it used; None if nobody was asked."""
        if run.model is None:
            return None
        model = self._models.small(await self._models.find(run.model))
        if model.provider == TOO_SMALL:
            return None
        messages = (await self._store.background(session_id)).messages
        said = "\n\n".join(f"{m.role}: {m.text()[:SHOWN_CHARACTERS]}" for m in messages[:2])
        request = ModelRequest(
            model=model.name,
            system=prompts.TITLE,
            turns=(UserTurn(blocks=(TextBlock(text=f"{said}\n\n{prompts.TITLE}"),)),),
            # A model that thinks anyway spends some of them on that.
            max_tokens=1000,
            effort=min(model.efforts, key=list(Effort).index, default=None),
        )
        meter = Meter()
        listener = Listener(meter, Allowance(characters=HEARD_CHARACTERS))
        provider = self._models.provider(model)
        try:
            await ask(
                provider,
                request,
                meter=meter,
                price=model.price,
                taker=listener,
                retries=self._retries,
                points=self._points,
            )
        except LimitReached:
            return Titled(title=None, model=model.id, usage=meter.total())
        return Titled(title=_tidy(listener.text()), model=model.id, usage=meter.total())


def _tidy(text: str) -> str | None:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    title = lines[-1].strip("\"'“”«»*#` .") if lines else ""
    return title[:LONGEST] or None
