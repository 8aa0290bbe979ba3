"""Everything that can go wrong in domain words, each with its code.

TenutoError
├── InvalidInput          the request makes no sense
│   └── ModelNotFound
├── NotFound
├── Forbidden
├── Unauthorized
├── Conflict              the request makes sense, but not now
│   ├── SessionBusy
│   ├── AlreadyAnswered
│   ├── IdempotencyMismatch
│   ├── NothingToUndo
│   └── NotLast
├── PayloadTooLarge
├── QueueFull
├── RateLimited
├── ShuttingDown
├── Fenced                the writer no longer owns the run (never leaves the engine)
├── Outdated              what was looked at has changed (never leaves the engine)
├── StorageTrouble        the store cannot be written or read now
│   └── InDoubt           it may have been written, and could not be found out
└── Unstorable            what should be stored never can be (never leaves the engine)
"""


class TenutoError(Exception):
    """An error with a code that clients may rely on and a sentence for people."""

    code = "internal"


class InvalidInput(TenutoError):
    code = "invalid_input"


class ModelNotFound(InvalidInput):
    code = "model_not_found"


class NotFound(TenutoError):
    code = "not_found"


class Forbidden(TenutoError):
    code = "forbidden"


class Unauthorized(TenutoError):
    code = "unauthorized"


class Conflict(TenutoError):
    code = "session_busy"


class SessionBusy(Conflict):
    code = "session_busy"


class AlreadyAnswered(Conflict):
    code = "already_answered"


class IdempotencyMismatch(Conflict):
    code = "idempotency_mismatch"


class NothingToUndo(Conflict):
    code = "nothing_to_undo"


class NotLast(Conflict):
    code = "not_last"


class PayloadTooLarge(TenutoError):
    code = "payload_too_large"


class QueueFull(TenutoError):
    code = "queue_full"


class RateLimited(TenutoError):
    code = "rate_limited"


class ShuttingDown(TenutoError):
    code = "shutting_down"


class Fenced(TenutoError):
    """The writer's epoch is over: the run ended, or another owner took it."""


class Outdated(TenutoError):
    """The decision was prepared for a state that is over: look again and decide anew."""


class StorageTrouble(TenutoError):
    """The store cannot be used now; nothing of the failed change was kept."""

    code = "storage_unavailable"


class InDoubt(StorageTrouble):
    """The change may have been kept and could not be found out: never do it again as it was."""


class Unstorable(TenutoError):
    """The store refuses what it was given, and will refuse it again: a bug, not trouble."""
