"""A summary of what was said and done, for a model that goes on from it alone."""

from collections.abc import Iterator, Sequence

import msgspec

from tenuto.agent import prompts
from tenuto.agent.allowance import Allowance
from tenuto.agent.answer import Listener
from tenuto.agent.asking import ask
from tenuto.agent.retries import Retries
from tenuto.agent.sizes import length
from tenuto.core.message import FilePart, Message, Part, TextPart, ToolPart
from tenuto.core.meter import CHARACTERS_PER_TOKEN, Meter
from tenuto.core.run import Reason
from tenuto.ports.model import (
    Model,
    ModelRequest,
    Provider,
    ProviderError,
    TextBlock,
    Turn,
    UserTurn,
)
from tenuto.ports.points import NOWHERE, Points

CALL_CHARACTERS = 2_000
"""Of a call's arguments and of its result, each."""
SHARE = 0.5
"""Of the window, for what is to be summed up in one go."""
REQUEST_CHARACTERS = 8_000
"""Of the user's last request: it is kept word for word."""
TODO = "todo"
"""The tool whose last call is kept word for word: a transcript is its only memory."""


class Summariser:
    """Asks a model for summaries; what they cost is the run's."""

    def __init__(
        self,
        provider: Provider,
        model: Model,
        *,
        meter: Meter,
        allowance: Allowance,
        retries: Retries,
        points: Points = NOWHERE,
    ) -> None:
        self._provider = provider
        self._model = model
        self._meter = meter
        self._allowance = allowance
        self._retries = retries
        self._points = points

    async def summarise(self, before: str | None, messages: Sequence[Message]) -> str:
        """These messages, and the summary of those before them. Raises ProviderError.

        However long they are: what does not fit into one request is summed up piece by piece.
        """
        most = int(self._model.context_window * CHARACTERS_PER_TOKEN * SHARE)
        summary = before
        for piece in _pieces(_told(messages), most):
            summary = await self._ask(summary, piece)
        return (summary or "") + _todo(messages)

    async def _ask(self, before: str | None, transcript: str) -> str:
        known = f"What came before, in short:\n{before}\n\n" if before else ""
        words = f"{known}The conversation:\n\n{transcript}\n\n{prompts.SUMMARY}"
        turns: tuple[Turn, ...] = (UserTurn(blocks=(TextBlock(text=words),)),)
        request = ModelRequest(model=self._model.name, system=prompts.SUMMARISER, turns=turns)
        listener = Listener(self._meter, self._allowance)
        await ask(
            self._provider,
            request,
            meter=self._meter,
            price=self._model.price,
            taker=listener,
            retries=self._retries,
            points=self._points,
        )
        if not listener.text():
            raise ProviderError(Reason.NO_RESPONSE, "The model gave no summary.")
        return listener.text()


def _told(messages: Sequence[Message]) -> Iterator[str]:
    """The conversation in plain words, without thoughts: some models refuse to read them."""
    for message in messages:
        who = "User" if message.role == "user" else "Assistant"
        for part in message.parts:
            if said := _part(part):
                yield f"{who}: {said}"


def _part(part: Part) -> str:
    match part:
        case TextPart():
            return part.text.strip()
        case FilePart():
            return f"[attached the file {part.name}, {part.size} bytes]"
        case ToolPart():
            gave = part.output if part.output is not None else part.error
            return (
                f"[called {part.name} with {_short(part.input_text, CALL_CHARACTERS)}; "
                f"it {part.state}: {_short(gave or '', CALL_CHARACTERS)}]"
            )
        case _:
            return ""


def _pieces(paragraphs: Iterator[str], most: int) -> Iterator[str]:
    held: list[str] = []
    size = 0
    for whole in paragraphs:
        paragraph = _short(whole, most // 2)
        if held and size + length(paragraph) > most:
            yield "\n\n".join(held)
            held, size = [], 0
        held.append(paragraph)
        size += length(paragraph)
    if held:
        yield "\n\n".join(held)


def with_request(summary: str, messages: Sequence[Message]) -> str:
    """The summary, and word for word what the user asked for last: nobody else will tell."""
    requests = [message.text() for message in messages if message.role == "user"]
    if not requests or not requests[-1].strip():
        return summary
    words = _short(requests[-1], REQUEST_CHARACTERS)
    return f"{summary}\n\nThe user's last request in it, word for word:\n{words}"


def _todo(messages: Sequence[Message]) -> str:
    parts = [part for message in messages for part in message.parts]
    lists = [p for p in parts if isinstance(p, ToolPart) and p.name == TODO and p.input]
    if not lists:
        return ""
    return f"\n\nThe todo list as it was: {msgspec.json.encode(lists[-1].input).decode()}"


def _short(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[: most * 3 // 4]}\n[…]\n{text[-most // 4 :]}"
