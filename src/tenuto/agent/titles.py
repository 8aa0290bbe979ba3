"""Titles: a few words that a model finds for a conversation."""

from tenuto.agent import prompts
from tenuto.agent.allowance import Allowance, LimitReached
from tenuto.agent.answer import Listener
from tenuto.agent.asking import ask
from tenuto.core.meter import Meter
from tenuto.core.run import Run
from tenuto.core.value import SessionId
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
    def __init__(self, store: Insides, models: Models, *, points: Points = NOWHERE) -> None:
        self._store = store
        self._points = points
        self._models = models

    async def make(self, session_id: SessionId, run: Run) -> str | None:
        """A title for the conversation so far; None if the model found none."""
        if run.model is None:
            return None
        model = await self._models.find(run.model)
        if model.provider == TOO_SMALL:
            return None
        messages = (await self._store.background(session_id)).messages
        said = "\n\n".join(f"{m.role}: {m.text()[:SHOWN_CHARACTERS]}" for m in messages[:2])
        request = ModelRequest(
            model=model.id.removeprefix(f"{model.provider}/"),
            system=prompts.TITLE,
            turns=(UserTurn(blocks=(TextBlock(text=f"{said}\n\n{prompts.TITLE}"),)),),
            max_tokens=200,
        )
        meter = Meter()
        listener = Listener(meter, Allowance(characters=HEARD_CHARACTERS))
        provider = self._models.provider(model)
        try:
            await ask(provider, request, meter=meter, taker=listener, points=self._points)
        except LimitReached:
            return None
        return _tidy(listener.text())


def _tidy(text: str) -> str | None:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    title = lines[-1].strip("\"'“”«»*#` .") if lines else ""
    return title[:LONGEST] or None
