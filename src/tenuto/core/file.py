"""An uploaded file."""

from tenuto.core.principal import OWNER
from tenuto.core.value import FileId, Instant, PrincipalId, Value


class FileInfo(Value):
    id: FileId
    name: str
    media_type: str
    size: int
    by: PrincipalId = OWNER.id
    """Who sent it."""
    created_at: Instant
