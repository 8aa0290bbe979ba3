"""What keeps a command inside its workspace, as people are told it."""

from enum import StrEnum

from tenuto.core.value import Value


class SandboxWish(StrEnum):
    AUTO = "auto"
    """Where it can be had."""
    ON = "on"
    """Always: without one, what would need it is refused."""
    OFF = "off"


class SandboxKind(StrEnum):
    LANDLOCK = "landlock"
    BUBBLEWRAP = "bubblewrap"
    NONE = "none"


class Sandboxing(Value):
    """What was wanted, and what holds."""

    wanted: SandboxWish
    kind: SandboxKind
    abi: int | None = None
    """Landlock's version in this kernel; None: it has none that is of use."""
    about: str
    """In a sentence, for people."""
