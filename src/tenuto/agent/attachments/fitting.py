"""Fitting attachments to a model: what it can take goes as it is, the rest as text or as a note.

A provider that refuses one file refuses every later request of the session, too. So nothing is
sent that is known to be refused.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from tenuto.agent.attachments.picture import Picture, picture
from tenuto.agent.attachments.text import size, told
from tenuto.agent.tools.processes.pdf import Pdfs
from tenuto.core.value import Value
from tenuto.ports.model import FileBlock, Model, ModelRequest, TextBlock, ToolTurn, Turn, UserTurn

PDF = "application/pdf"
MOST_IMAGES = 20
"""The newest; with more, one provider takes only small ones."""


class FileLimits(Value):
    """What a wire takes, in bytes before they are encoded."""

    image_bytes: int = 20_000_000
    image_pixels: int = 16_000
    """On the longer side."""
    total_bytes: int = 30_000_000
    """Of all that is not text, in one request."""
    documents: bool = False
    """Whether PDFs can be sent at all."""


class Attachments:
    """Fits the files of one provider's requests to its models."""

    def __init__(self) -> None:
        self._pdfs = Pdfs()

    async def fit(self, request: ModelRequest, model: Model, limits: FileLimits) -> ModelRequest:
        """As `fit` does, with the text of PDFs for a model that does not take them."""
        files = [file for file in files_of(request) if is_pdf(file)]
        if not files or _reads(model, limits):
            return fit(request, model, limits)
        texts = {file.content: await self._pdfs.text(file.content) for file in files}
        turns = (_read(turn, texts) for turn in request.turns)
        return fit(replace(request, turns=tuple(turns)), model, limits)


def _read(turn: Turn, texts: Mapping[bytes, str]) -> Turn:
    if not isinstance(turn, UserTurn):
        return turn
    blocks = (
        replace(block, media_type="text/plain", content=texts[block.content].encode())
        if isinstance(block, FileBlock) and block.content in texts
        else block
        for block in turn.blocks
    )
    return UserTurn(blocks=tuple(blocks))


def _reads(model: Model, limits: FileLimits) -> bool:
    return limits.documents and "documents" in model.capabilities


def fit(request: ModelRequest, model: Model, limits: FileLimits) -> ModelRequest:
    """The same request: each file in it is an image or a PDF that can be sent, or has become text."""
    if not any(True for _ in files_of(request)):
        return request
    fitting = _Fitting(model, limits)
    # The newest count when there are too many.
    turns = [fitting.turn(turn) for turn in reversed(request.turns)]
    return replace(request, turns=tuple(reversed(turns)))


def files_of(request: ModelRequest) -> Iterator[FileBlock]:
    for turn in request.turns:
        match turn:
            case UserTurn():
                yield from (block for block in turn.blocks if isinstance(block, FileBlock))
            case ToolTurn():
                yield from turn.images
            case _:
                pass


class _Fitting:
    """Of one request, from its end to its beginning."""

    def __init__(self, model: Model, limits: FileLimits) -> None:
        self._sees = "vision" in model.capabilities
        self._reads = _reads(model, limits)
        self._limits = limits
        self._images = MOST_IMAGES
        self._bytes = limits.total_bytes

    def turn(self, turn: Turn) -> Turn:
        match turn:
            case UserTurn():
                blocks = [self._block(block) for block in reversed(turn.blocks)]
                return UserTurn(blocks=tuple(reversed(blocks)))
            case ToolTurn() if turn.images:
                return with_images(turn, [self._block(image) for image in reversed(turn.images)])
            case _:
                return turn

    def _block(self, block: TextBlock | FileBlock) -> TextBlock | FileBlock:
        if isinstance(block, TextBlock):
            return block
        if self._sees and (seen := picture(block.content)):
            return self._image(block, seen)
        if is_pdf(block) and self._reads:
            return self._document(block)
        text = told(block)
        return TextBlock(text=_unread(block, sees=self._sees) if text is None else text)

    def _image(self, block: FileBlock, seen: Picture) -> TextBlock | FileBlock:
        limits, length = self._limits, len(block.content)
        if length > limits.image_bytes or max(seen.width, seen.height) > limits.image_pixels:
            return _note(
                f"Image {block.name} ({size(length)}, {seen.width}×{seen.height} pixels) is too "
                f"large for this model: it takes {size(limits.image_bytes)} and "
                f"{limits.image_pixels} pixels a side. Attach a smaller one."
            )
        if not self._images or length > self._bytes:
            return _note(f"Image {block.name} was left out: only the newest ones are shown.")
        self._images -= 1
        self._bytes -= length
        return replace(block, media_type=seen.media_type)

    def _document(self, block: FileBlock) -> TextBlock | FileBlock:
        length = len(block.content)
        if length > self._bytes:
            return _note(f"{block.name} ({size(length)}) was left out: it is too large to be sent.")
        self._bytes -= length
        return replace(block, media_type=PDF)


def with_images(turn: ToolTurn, shown: Sequence[TextBlock | FileBlock]) -> ToolTurn:
    """The result with those of its images that are still files, newest first, the rest in words."""
    words = [block.text for block in reversed(shown) if isinstance(block, TextBlock)]
    images = tuple(block for block in reversed(shown) if isinstance(block, FileBlock))
    return replace(turn, output="\n".join(filter(None, [turn.output, *words])), images=images)


def is_pdf(file: FileBlock) -> bool:
    """By its bytes; some have a few others before them, but so have texts about PDFs."""
    head = file.content[:1024]
    return head.lstrip().startswith(b"%PDF-") or (file.media_type == PDF and b"%PDF-" in head)


def _unread(file: FileBlock, *, sees: bool) -> str:
    """Why a file is not there, and what could be done."""
    kind, length = file.media_type or "unknown kind", size(len(file.content))
    if not file.media_type.startswith("image/"):
        return f"[Attached file {file.name} ({kind}, {length}) cannot be read by this model.]"
    if not sees:
        return f"[Image {file.name} ({kind}, {length}) cannot be seen by this model.]"
    way_out = "Attach it as PNG, JPEG, GIF or WebP."
    return (
        f"[Image {file.name} ({kind}, {length}) is broken or of a kind that is not seen. {way_out}]"
    )


def _note(words: str) -> TextBlock:
    return TextBlock(text=f"[{words}]")
