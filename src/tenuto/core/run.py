"""A run: one accepted prompt and all that is done to answer it."""

from enum import StrEnum
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from tenuto.core.error import Conflict
from tenuto.core.options import Effort, Options, Wish
from tenuto.core.principal import OWNER
from tenuto.core.text import cut
from tenuto.core.value import FileId, Instant, PrincipalId, RunId, SessionId, Value


class RunStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


class Reason(StrEnum):
    """Why a run ended the way it did."""

    END_TURN = "end_turn"
    MAX_TOKENS = "max_tokens"
    CONTENT_FILTER = "content_filter"
    STEP_LIMIT = "step_limit"
    TIME_LIMIT = "time_limit"
    LOOP = "loop"

    USER = "user"
    DISCONNECT = "disconnect"
    REPLACED = "replaced"
    WITHDRAWN = "withdrawn"
    DELETED = "deleted"

    PROVIDER_ERROR = "provider_error"
    PROVIDER_STALLED = "provider_stalled"
    NO_RESPONSE = "no_response"
    BUDGET = "budget"
    MODEL_NOT_FOUND = "model_not_found"
    TOO_LARGE = "too_large"
    """The answer outgrew a limit; what came of it is kept."""
    STORAGE = "storage"
    INTERNAL = "internal"

    SERVER_STOPPED = "server_stopped"
    SERVER_CRASHED = "server_crashed"


REASONS: dict[RunStatus, frozenset[Reason]] = {
    RunStatus.COMPLETED: frozenset(
        {
            Reason.END_TURN,
            Reason.MAX_TOKENS,
            Reason.CONTENT_FILTER,
            Reason.STEP_LIMIT,
            Reason.TIME_LIMIT,
            Reason.LOOP,
        }
    ),
    RunStatus.CANCELLED: frozenset(
        {Reason.USER, Reason.DISCONNECT, Reason.REPLACED, Reason.WITHDRAWN, Reason.DELETED}
    ),
    RunStatus.FAILED: frozenset(
        {
            Reason.PROVIDER_ERROR,
            Reason.PROVIDER_STALLED,
            Reason.NO_RESPONSE,
            Reason.BUDGET,
            Reason.MODEL_NOT_FOUND,
            Reason.TOO_LARGE,
            Reason.STORAGE,
            Reason.INTERNAL,
        }
    ),
    RunStatus.INTERRUPTED: frozenset({Reason.SERVER_STOPPED, Reason.SERVER_CRASHED}),
}
"""The endings, and the reasons each may have."""

NEXT: dict[RunStatus, frozenset[RunStatus]] = {
    # A queued run completes without running only when another run took its prompt (steer).
    RunStatus.QUEUED: frozenset({RunStatus.RUNNING, RunStatus.COMPLETED, RunStatus.CANCELLED}),
    RunStatus.RUNNING: frozenset(REASONS),
    RunStatus.COMPLETED: frozenset(),
    RunStatus.CANCELLED: frozenset(),
    RunStatus.FAILED: frozenset(),
    RunStatus.INTERRUPTED: frozenset(),
}
"""The whole life of a run."""


class Mode(StrEnum):
    AGENT = "agent"
    CHAT = "chat"
    COMPACT = "compact"
    """Summarises the session; made by `…/compact`, never by a prompt."""


class WhenBusy(StrEnum):
    QUEUE = "queue"
    STEER = "steer"
    INTERRUPT = "interrupt"
    REJECT = "reject"


class OnDisconnect(StrEnum):
    CONTINUE = "continue"
    CANCEL = "cancel"


class OnInterrupt(StrEnum):
    """What becomes of a prompt whose run a stop or a crash of the server ends."""

    STOP = "stop"
    CONTINUE = "continue"
    """A new run goes on from what is kept, by itself."""


class ToolScope(StrEnum):
    """Which tools a sub-agent has."""

    LOOK = "look"
    """Those that change nothing."""
    ALL = "all"


class InputText(Value, tag_field="type", tag="text"):
    text: str


class InputFile(Value, tag_field="type", tag="file"):
    """A file of a prompt; what describes it is filled in by the server when it is accepted."""

    file_id: FileId
    name: str = ""
    media_type: str = ""
    size: int = 0


Input = str | list[InputText | InputFile]


def files_of(given: Input) -> list[FileId]:
    if isinstance(given, str):
        return []
    return [item.file_id for item in given if isinstance(item, InputFile)]


MOST_TOKENS = 1 << 53
"""No sum goes past it: what JSON, JavaScript and every database hold exactly."""
ERROR_CHARACTERS = 2000


class ChildUsage(Value):
    """What the sub-agents of a run used. It is in their own runs' usage, and in no other."""

    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    exact: bool = True
    cost_usd: float | None = None


class Usage(Value):
    """What was used. Sums stop at the most that everyone can hold."""

    input_tokens: int = 0
    """All of it, what was cached included."""
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cache_read_tokens: int = 0
    """Of the input: what the provider had kept from an earlier request."""
    cache_write_tokens: int = 0
    """Of the input: what the provider was paid to keep for later ones."""
    exact: bool = True
    cost_usd: float | None = None
    """None: the model's price is not known."""
    children: ChildUsage | UnsetType = UNSET
    """Of sub-agents, and not in the sums above; UNSET: there were none."""

    def __add__(self, other: "Usage") -> "Usage":
        costs = [c for c in (self.cost_usd, other.cost_usd) if c is not None]
        below = [one.children for one in (self, other) if one.children is not UNSET]
        return Usage(
            input_tokens=min(self.input_tokens + other.input_tokens, MOST_TOKENS),
            output_tokens=min(self.output_tokens + other.output_tokens, MOST_TOKENS),
            reasoning_tokens=min(self.reasoning_tokens + other.reasoning_tokens, MOST_TOKENS),
            cache_read_tokens=min(self.cache_read_tokens + other.cache_read_tokens, MOST_TOKENS),
            cache_write_tokens=min(self.cache_write_tokens + other.cache_write_tokens, MOST_TOKENS),
            exact=self.exact and other.exact,
            cost_usd=sum(costs) if costs else None,
            children=_together(below),
        )

    @property
    def with_children_usd(self) -> float:
        """What all of it cost, as far as it is known."""
        below = self.children.cost_usd if self.children else None
        return (self.cost_usd or 0.0) + (below or 0.0)


def used_below(usage: Usage) -> Usage:
    """What a sub-agent used, as the run that began it shows it."""
    fields = msgspec.structs.asdict(usage)
    del fields["children"]
    return Usage(children=ChildUsage(**fields))


def _together(below: list[ChildUsage]) -> ChildUsage | UnsetType:
    if not below:
        return UNSET
    total = sum((Usage(**msgspec.structs.asdict(one)) for one in below), Usage())
    fields = msgspec.structs.asdict(total)
    del fields["children"]
    return ChildUsage(**fields)


class RunError(Value):
    code: str
    message: str


class Waiting(Value):
    """A run does nothing now but wait: for its provider, or for the node that its folder is on."""

    reason: str
    """A sentence for people; or `node_away`."""
    attempt: int = 0
    """Which one comes next; 0: nothing was tried."""
    until: Instant | None = None
    """None: nobody knows."""


class Run(Value):
    id: RunId
    session_id: SessionId
    by: PrincipalId = OWNER.id
    """Who prompted."""
    status: RunStatus
    reason: Reason | None = None
    error: RunError | None = None
    model: str | None
    """None: hidden, in a blind pane before the vote."""
    mode: Mode
    when_busy: WhenBusy
    on_disconnect: OnDisconnect
    accept_number: int
    accepted_at: Instant
    started_at: Instant | None = None
    finished_at: Instant | None = None
    input: Input
    held: bool = False
    """It waits, and is passed over, until it is let go."""
    steered_into: RunId | None = None
    continues: RunId | None = None
    on_interrupt: OnInterrupt = OnInterrupt.STOP
    continued: int = 0
    """How often in a row the server went on by itself, this run included."""
    effort: Effort | None = None
    """None: as the model does by itself."""
    options: Options | None = None
    attended: bool = True
    """False: nobody can be asked."""
    parent_run: RunId | UnsetType = UNSET
    """The run whose sub-agent this is; UNSET: somebody prompted."""
    tools: ToolScope | UnsetType = UNSET
    """Of a sub-agent; UNSET: all that the session has."""
    waiting: Waiting | None = None
    notices: tuple[str, ...] = ()
    """Sentences about what the provider did not take and was asked without."""
    usage: Usage = msgspec.field(default_factory=Usage)

    @property
    def ended(self) -> bool:
        return self.status in REASONS

    @property
    def ends_with_another(self) -> bool:
        """Whether it ends with a connection, or with the run whose sub-agent it is."""
        return self.on_disconnect is OnDisconnect.CANCEL or self.parent_run is not UNSET

    @property
    def wish(self) -> Wish:
        return Wish(effort=self.effort, options=self.options, attended=self.attended)

    def start(self, now: Instant) -> "Run":
        self._must_allow(RunStatus.RUNNING)
        return replace(self, status=RunStatus.RUNNING, started_at=now, waiting=None, held=False)

    def end(self, ending: "Ending", now: Instant) -> "Run":
        self._must_allow(ending.status)
        return replace(
            self,
            status=ending.status,
            reason=ending.reason,
            error=ending.error,
            usage=ending.usage,
            waiting=None,
            held=False,
            finished_at=now,
        )

    def _must_allow(self, status: RunStatus) -> None:
        if status not in NEXT[self.status]:
            raise Conflict(f"run {self.id} cannot go from {self.status} to {status}")


class Ending(Value):
    """How a run ends. The status must allow the reason."""

    status: Literal[
        RunStatus.COMPLETED, RunStatus.CANCELLED, RunStatus.FAILED, RunStatus.INTERRUPTED
    ]
    reason: Reason
    error: RunError | None = None
    usage: Usage = msgspec.field(default_factory=Usage)

    @classmethod
    def failed(cls, reason: Reason, message: str) -> "Ending":
        """With a sentence for people, made whole: it may be somebody else's."""
        error = RunError(code=str(reason), message=cut(message, ERROR_CHARACTERS))
        return cls(status=RunStatus.FAILED, reason=reason, error=error)

    def __post_init__(self) -> None:
        if self.reason not in REASONS[self.status]:
            raise ValueError(f"{self.status} cannot be because of {self.reason}")

    @property
    def finish_reason(self) -> str:
        """What the run's open message says of this ending."""
        match self.status:
            case RunStatus.COMPLETED:
                return str(self.reason)
            case RunStatus.FAILED:
                return "error"
            case _:
                return str(self.status)
