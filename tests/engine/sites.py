"""A run's place in the world, for what only wants to know where it is."""

from pathlib import Path

from tenuto.core.rule import Rule
from tenuto.core.run import Mode, OnDisconnect, Run, RunStatus, WhenBusy
from tenuto.core.session import Session, Workspace
from tenuto.core.value import Instant, RunId, SessionId, WorkspaceId
from tenuto.ports.tool import Site

NOW = Instant("2026-01-01T00:00:00.000Z")


def site(folder: Path = Path("/srv"), rules: tuple[Rule, ...] = ()) -> Site:
    here, session = WorkspaceId("default"), SessionId("ses_1")
    return Site(
        session=Session(id=session, workspace_id=here, created_at=NOW, updated_at=NOW),
        run=Run(
            id=RunId("run_1"),
            session_id=session,
            status=RunStatus.RUNNING,
            model="test/model",
            mode=Mode.AGENT,
            when_busy=WhenBusy.QUEUE,
            on_disconnect=OnDisconnect.CONTINUE,
            accept_number=1,
            accepted_at=NOW,
            input="Hello",
        ),
        workspace=Workspace(id=here, name="Here", path=str(folder), rules=rules, created_at=NOW),
        folder=folder,
    )
