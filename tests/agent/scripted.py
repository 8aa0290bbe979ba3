"""A provider that says what a test wrote, and remembers what it was asked."""

from collections.abc import AsyncGenerator, Sequence

from msgspec.structs import replace

from tenuto.core.message import Message, Part, assistant_message, user_message
from tenuto.core.run import Input, Reason, Run
from tenuto.core.value import RunId
from tenuto.ports.model import Finished, Model, ModelRequest, Piece, ProviderError, TextPiece
from tests.core.test_run import NOW, QUEUED

MODEL = Model(id="scripted/one", name="one", provider="scripted", context_window=1000)
BUSY = ProviderError(Reason.PROVIDER_ERROR, "busy", retry_after=0.0)
BROKEN = ProviderError(Reason.PROVIDER_ERROR, "broken")


def said(text: str) -> list[Piece]:
    return [TextPiece(text=text), Finished(reason="end_turn")]


class Scripted:
    """Each answer is a list of pieces; an error among them is raised in its place."""

    name = "scripted"

    def __init__(self, *answers: Sequence[Piece | ProviderError]) -> None:
        self._answers = list(answers)
        self.requests: list[ModelRequest] = []
        self.closed = 0

    async def models(self) -> Sequence[Model]:
        return [MODEL]

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Piece], None]:
        self.requests.append(request)
        try:
            for item in self._answers.pop(0):
                if isinstance(item, ProviderError):
                    raise item
                yield [item]
        finally:
            self.closed += 1

    async def close(self) -> None:
        assert not self._answers, "not all answers were asked for"


class Models:
    """One provider, and the only model it has."""

    def __init__(self, provider: Scripted) -> None:
        self._provider = provider

    async def list(self) -> tuple[Sequence[Model], str | None]:
        return [MODEL], MODEL.id

    async def find(self, model_id: str | None) -> Model:
        return MODEL

    def small(self, model: Model) -> Model:
        return model

    def provider(self, model: Model) -> Scripted:
        return self._provider

    async def close(self) -> None:
        await self._provider.close()


class TranscriptBuilder:
    """Builds a transcript, message by message."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def user(self, prompt: Input) -> "TranscriptBuilder":
        run = _change(prompt=prompt, number=len(self.messages))
        self.messages.append(user_message(run, of=run.id))
        return self

    def answer(self, *parts: Part, finish: str | None = "end_turn") -> "TranscriptBuilder":
        run = _change(prompt="", number=len(self.messages))
        empty = assistant_message(run, of=run.id, now=NOW)
        self.messages.append(_filled(empty, parts, finish))
        return self


def _change(*, prompt: Input, number: int) -> Run:
    return replace(QUEUED, id=RunId(f"run_{number}"), input=prompt)


def _filled(message: Message, parts: tuple[Part, ...], finish: str | None) -> Message:
    return replace(message, parts=parts, finish_reason=finish)
