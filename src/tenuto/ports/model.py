"""Models: what is asked of one, and what comes back piece by piece."""

from collections.abc import AsyncGenerator, Sequence
from enum import StrEnum
from typing import Any, Literal, Protocol

from tenuto.core.message import Seal
from tenuto.core.meter import Price
from tenuto.core.options import NO_OPTIONS, Effort, Options
from tenuto.core.run import Reason, Usage
from tenuto.core.value import CallId, Value


class TextBlock(Value, tag_field="type", tag="text"):
    text: str


class FileBlock(Value, tag_field="type", tag="file"):
    """An attached file. Images go to models that can see; text files go as text."""

    name: str
    media_type: str
    """As it was claimed to be."""
    content: bytes
    id: str = ""
    """What tools can read it by; empty: they cannot."""


class Thought(Value, tag_field="type", tag="thought"):
    text: str
    seal: Seal | None = None
    """None: it was not sealed, or the seal is another's; then no wire gives it back."""


class ToolCall(Value, tag_field="type", tag="call"):
    id: CallId
    """One of ours, that every wire takes."""
    name: str
    arguments: str
    """A JSON object, always: the context builder sees to it."""
    seal: Seal | None = None


class UserTurn(Value, tag_field="type", tag="user"):
    blocks: tuple[TextBlock | FileBlock, ...]


class AssistantTurn(Value, tag_field="type", tag="assistant"):
    """One answer of a model. Calls come last."""

    blocks: tuple[TextBlock | Thought | ToolCall, ...]

    @property
    def text(self) -> str:
        return "\n\n".join(b.text for b in self.blocks if isinstance(b, TextBlock))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(b for b in self.blocks if isinstance(b, ToolCall))

    @property
    def thoughts(self) -> tuple[Thought, ...]:
        return tuple(b for b in self.blocks if isinstance(b, Thought))


class ToolTurn(Value, tag_field="type", tag="tool"):
    """The one result of a call of the assistant turn before it."""

    call_id: CallId
    name: str
    output: str
    images: tuple[FileBlock, ...] = ()
    """Seen beside the text; never those of a call that failed, which one wire refuses."""
    failed: bool = False


Turn = UserTurn | AssistantTurn | ToolTurn


class ToolSpec(Value):
    name: str
    description: str
    parameters: dict[str, Any]
    """A JSON schema."""


class ModelRequest(Value):
    model: str
    """The provider's own name for it, without the provider's prefix."""
    system: str
    turns: tuple[Turn, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int | None = None
    """None: as many as the provider gives."""
    effort: Effort | None = None
    """None: as the model does by itself."""
    options: Options = NO_OPTIONS
    cache_key: str = ""
    """The same for requests that begin alike; empty: not worth keeping."""


class TextPiece(Value):
    text: str


class ReasoningPiece(Value):
    text: str
    seal: Seal | None = None
    """Of the stretch of thought that begins with it, where that is known at once."""


class SealPiece(Value):
    """Seals what was thought since the last one, if anything was."""

    seal: Seal


class CallStarted(Value):
    """A tool call begins; `index` tells calls of one answer apart."""

    index: int
    id: CallId
    name: str
    seal: Seal | None = None


class CallPiece(Value):
    """A piece of a call's arguments."""

    index: int
    text: str


class UsagePiece(Value):
    """What the provider says was used by this request, so far; the last one counts."""

    usage: Usage


class Finished(Value):
    reason: Literal["end_turn", "max_tokens", "content_filter", "tool_calls"]


class Notice(Value):
    """What was left out of the request so that the model would take it, as a sentence."""

    text: str


Piece = (
    TextPiece
    | ReasoningPiece
    | SealPiece
    | CallStarted
    | CallPiece
    | UsagePiece
    | Notice
    | Finished
)


class Model(Value):
    id: str
    """`provider/name`."""
    name: str
    provider: str
    context_window: int
    capabilities: tuple[str, ...] = ()
    """Of `tools`, `vision`, `documents` (it takes PDFs), `reasoning`."""
    max_output: int | None = None
    efforts: tuple[Effort, ...] = ()
    """That can be chosen."""
    price: Price | None = None
    source: str = "default"
    """Where most of this is known from: file, listing, catalogue, family, default."""


class Trouble(StrEnum):
    """What is wrong, as far as it matters for what to do next."""

    BUSY = "busy"
    """Too many requests: the provider wants us to wait."""
    OVERLOADED = "overloaded"
    BROKEN = "broken"
    """The connection could not be made, or broke."""
    SILENT = "silent"
    TOO_LONG = "too_long"
    """More was said than the model can take."""
    PARAMETER = "parameter"
    """One field of the request is not taken by this model."""
    IMAGE = "image"
    TOOLS = "tools"
    """The model takes none."""
    OTHER = "other"


class ProviderError(Exception):
    """A provider said no, broke off, or fell silent. The message is for people, free of secrets."""

    def __init__(
        self,
        reason: Reason,
        message: str,
        *,
        retry_after: float | None = None,
        trouble: Trouble = Trouble.OTHER,
        parameter: str = "",
    ) -> None:
        super().__init__(message)
        self.reason = reason
        """One of provider_error, provider_stalled, model_not_found, no_response, too_large."""
        self.retry_after = retry_after
        """Seconds after which the same request may go through; None: it never will."""
        self.trouble = trouble
        self.parameter = parameter
        """The field that is not taken, if that is the trouble and it was named."""


class Provider(Protocol):
    name: str

    async def models(self) -> Sequence[Model]:
        """What can be asked for now. Raises ProviderError if the provider cannot say."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Piece], None]:
        """The answer in batches of pieces, as the bytes arrive; one attempt, no retry.

        Closing the generator closes the connection. Raises ProviderError, also when the answer
        breaks off before it was finished.
        """

    async def close(self) -> None: ...


class Models(Protocol):
    """All providers as one."""

    async def list(self) -> tuple[Sequence[Model], str | None]:
        """Every model that can be asked for, and the id of the default one."""

    async def find(self, model_id: str | None) -> Model:
        """This model, or the default one. Raises ModelNotFound with a way out.

        A provider that cannot list its models is trusted to know the name.
        """

    def small(self, model: Model) -> Model:
        """One for titles and summaries, cheap and of the same provider unless it was set; at worst
        this one."""

    def provider(self, model: Model) -> Provider: ...

    async def close(self) -> None: ...
