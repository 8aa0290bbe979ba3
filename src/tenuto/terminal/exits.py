"""Exit codes: what a script learns of a run, and of this command."""

from enum import IntEnum

from tenuto.client import ApiError
from tenuto.core.run import Reason, Run, RunStatus


class ExitCode(IntEnum):
    DONE = 0
    FAILED = 1
    USAGE = 2
    """Nothing was sent."""
    CUT_SHORT = 3
    NEEDED_A_PERSON = 4
    INTERRUPTED = 5
    NO_SERVER = 6
    """Or it was lost: the run may go on."""
    CANCELLED = 130
    TERMINATED = 143


class Leave(Exception):
    """The command ends here, with a sentence for people."""

    def __init__(self, code: ExitCode, why: str) -> None:
        super().__init__(why)
        self.code = code
        self.why = why


def code_of(run: Run, *, refused: int, cancelled_as: ExitCode) -> ExitCode:
    """The code that tells how this run ended; `refused` counts what nobody could be asked."""
    match run.status:
        case RunStatus.COMPLETED if run.reason is not Reason.END_TURN:
            return ExitCode.CUT_SHORT
        case RunStatus.COMPLETED:
            return ExitCode.NEEDED_A_PERSON if refused else ExitCode.DONE
        case RunStatus.FAILED:
            return ExitCode.FAILED
        case RunStatus.CANCELLED:
            return cancelled_as
        case RunStatus.INTERRUPTED:
            return ExitCode.INTERRUPTED
        case _:
            return ExitCode.NEEDED_A_PERSON


def refusal(error: ApiError) -> Leave:
    """What the server's no means for a command that had nothing accepted."""
    if error.status in (401, 403):
        return Leave(ExitCode.NO_SERVER, f"the server does not let us in: {error.detail}")
    if error.passing:
        return Leave(ExitCode.NO_SERVER, f"the server takes nothing now: {error.detail}")
    if error.status in (409, 429) or error.status >= 500:
        return Leave(ExitCode.FAILED, error.detail)
    return Leave(ExitCode.USAGE, error.detail)
