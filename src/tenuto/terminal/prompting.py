"""From what was typed to a run that the server has accepted."""

import mimetypes
import os
from pathlib import Path

from tenuto.client import Client, RunHandle, SessionHandle
from tenuto.core.run import Input, InputFile, InputText, OnInterrupt
from tenuto.core.value import SessionId, Value, WorkspaceId
from tenuto.terminal.exits import ExitCode, Leave
from tenuto.terminal.options import OnAsk, RunOptions, ViewOptions, given


class LocalFile(Value):
    name: str
    content: bytes


class Ready(Value):
    """All but the sending."""

    session_id: SessionId
    input: Input


def local_files(paths: tuple[str, ...]) -> list[LocalFile]:
    try:
        return [LocalFile(name=Path(p).name, content=Path(p).read_bytes()) for p in paths]
    except OSError as error:
        raise Leave(ExitCode.USAGE, f"--file {error.filename}: {error.strerror}") from error


def check(options: RunOptions, view: ViewOptions) -> None:
    """Raises Leave for what cannot be meant together."""
    if options.session and options.continue_last:
        raise Leave(ExitCode.USAGE, "--session or --continue, not both")
    is_old = options.session or options.continue_last
    if is_old and (options.system or options.title):
        raise Leave(ExitCode.USAGE, "--system and --title are for a new session")
    if options.session and options.workspace:
        raise Leave(ExitCode.USAGE, "--workspace: a session stays in its own")
    if view.last_message and not Path(view.last_message).parent.is_dir():
        raise Leave(ExitCode.USAGE, f"--last-message {view.last_message}: no such folder")


async def prepare(
    tenuto: Client, options: RunOptions, texts: list[str], files: list[LocalFile]
) -> Ready:
    """Find or make the session, and hand over the files."""
    session = await _session(tenuto, options)
    if len(texts) == 1 and not files:
        return Ready(session_id=session.id, input=texts[0])
    parts: list[InputText | InputFile] = [InputText(text=text) for text in texts]
    for file in files:
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        info = await tenuto.upload(file.name, file.content, media_type=kind)
        parts.append(InputFile(file_id=info.id))
    return Ready(session_id=session.id, input=parts)


async def send(tenuto: Client, options: RunOptions, ready: Ready, on_ask: OnAsk) -> RunHandle:
    """Once this returns the run is the server's, through its crashes too."""
    nobody = options.detach and on_ask is OnAsk.DENY
    return await tenuto.session(ready.session_id).prompt(
        ready.input,
        model=given(options.model),
        mode=given(options.mode),
        effort=given(options.effort),
        when_busy=given(options.when_busy),
        attended=given(False if nobody else None),
        on_interrupt=OnInterrupt.CONTINUE,
    )


async def _session(tenuto: Client, options: RunOptions) -> SessionHandle:
    if options.session:
        session = tenuto.session(SessionId(options.session))
        await session.get()
        return session
    workspace = await _workspace(tenuto, options.workspace)
    if options.continue_last:
        async for last in tenuto.sessions(workspace=given(workspace), limit=1):
            return tenuto.session(last.id)
        raise Leave(ExitCode.USAGE, "--continue: there is no session yet")
    return await tenuto.create_session(
        workspace=given(workspace), title=given(options.title), system=given(options.system)
    )


async def _workspace(tenuto: Client, wanted: str | None) -> WorkspaceId | None:
    if wanted is None:
        return None
    found = await tenuto.workspaces()
    path = os.path.realpath(wanted)  # noqa: ASYNC240 (once, and nobody waits)
    for workspace in found:
        if wanted in (workspace.id, workspace.name) or workspace.path == path:
            return workspace.id
    names = ", ".join(workspace.name for workspace in found)
    raise Leave(ExitCode.USAGE, f"--workspace {wanted}: there is none; there are: {names}")
