"""What has to be known of an embedded model before it runs."""

from tenuto.core.value import Value


class Sheet(Value):
    name: str
    window: int
    capabilities: tuple[str, ...] = ()
    longest_answer: int | None = None
    """In tokens; None: as long as it is asked for."""
    temperature: float | None = None
    repeat_penalty: float | None = None
    """None: as is usual."""
