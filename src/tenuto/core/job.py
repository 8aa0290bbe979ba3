"""A job: a command that goes on in the background, of a session, until it ends or is stopped."""

from enum import StrEnum

from msgspec.structs import replace

from tenuto.core.value import (
    CallId,
    Instant,
    JobId,
    MessageId,
    NodeId,
    PartId,
    RunId,
    SessionId,
    Value,
)


class JobState(StrEnum):
    RUNNING = "running"
    ENDED = "ended"
    """By itself."""
    STOPPED = "stopped"
    """By a person, by the model, or with its run, which was cancelled."""
    INTERRUPTED = "interrupted"
    """With the server that ran it."""


class JobEnding(Value):
    state: JobState
    exit_code: int | None = None
    """Negative: the signal that ended it. None: nobody knows, or it was stopped."""


class JobPrint(Value):
    """What is told of what it printed."""

    tail: str = ""
    """Its last lines."""
    characters: int = 0
    """So much was printed in all."""


class JobTold(Value):
    """Where in the conversation the model was told that it has ended."""

    message_id: MessageId
    part_id: PartId | None
    """After the answer of the model that has this part; None: before the message."""


class Job(Value):
    id: JobId
    session_id: SessionId
    run_id: RunId
    """That started it."""
    call_id: CallId
    name: str
    command: str
    cwd: str = "."
    node: NodeId
    """Which runs it."""
    state: JobState = JobState.RUNNING
    stopping: bool = False
    """It was told to stop, and has not ended yet."""
    exit_code: int | None = None
    printed: JobPrint = JobPrint()
    started_at: Instant
    ended_at: Instant | None = None
    told: JobTold | None = None
    """None: the model has not been told, or asked for itself."""

    def end(self, ending: JobEnding, printed: JobPrint | None, now: Instant) -> "Job":
        return replace(
            self,
            state=ending.state,
            exit_code=ending.exit_code,
            printed=printed or self.printed,
            stopping=False,
            ended_at=now,
        )

    def how_it_ended(self) -> str:
        """In one line, for the model."""
        match self.state:
            case JobState.RUNNING:
                how = "is running"
            case JobState.ENDED if (self.exit_code or 0) < 0:
                how = f"was ended by signal {-(self.exit_code or 0)}"
            case JobState.ENDED:
                how = f"ended with exit code {self.exit_code}"
            case JobState.STOPPED:
                how = "was stopped"
            case JobState.INTERRUPTED:
                how = "was ended because the server stopped"
        return f"The job {self.id} ({self.name}) {how}."
