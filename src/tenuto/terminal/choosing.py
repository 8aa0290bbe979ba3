"""Which run or session a command means."""

from tenuto.client import Client
from tenuto.core.run import Run, RunStatus
from tenuto.core.value import RunId, SessionId
from tenuto.terminal.exits import ExitCode, Leave


async def chosen_session(tenuto: Client, what: str | None) -> SessionId | None:
    """The session of this id; None if it is none."""
    if what is None or what.startswith("run_"):
        return None
    return (await tenuto.session(SessionId(what)).get()).id


async def chosen_run(tenuto: Client, what: str | None) -> RunId:
    """The run of this id, or the one that the session is at, or the only one that goes on."""
    if what is None:
        return await _only_one(tenuto)
    session_id = await chosen_session(tenuto, what)
    if session_id is None:
        return (await tenuto.run(RunId(what)).get()).id
    newest: Run | None = None
    async for run in tenuto.session(session_id).runs():
        if run.status is RunStatus.RUNNING:
            return run.id
        newest = newest or run
        if run.ended:
            break
    if newest is None:
        raise Leave(ExitCode.USAGE, f"no run in session {session_id} yet")
    return newest.id


async def _only_one(tenuto: Client) -> RunId:
    running = [run async for run in tenuto.runs(status=RunStatus.RUNNING)]
    if len(running) == 1:
        return running[0].id
    if not running:
        raise Leave(ExitCode.USAGE, "nothing runs now")
    ids = "\n  ".join(f"{run.id} in session {run.session_id}" for run in running)
    raise Leave(ExitCode.USAGE, f"several run now; say which:\n  {ids}")
