"""An uploaded file."""

from tenuto.core.value import FileId, Instant, Value


class FileInfo(Value):
    id: FileId
    name: str
    media_type: str
    size: int
    created_at: Instant
