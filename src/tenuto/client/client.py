"""The client: one server, and everything that can be asked of it."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Self

import aiohttp
import msgspec
from msgspec import UNSET, UnsetType

from tenuto.client.patience import Patience
from tenuto.client.run import RunHandle, pages_of_runs
from tenuto.client.session import SessionHandle, start_session
from tenuto.client.stream import After, Follower, Numbers, Seen, WorkspaceSnapshot
from tenuto.client.wire import Request, ServerLink, creation, encode, new_key, set_only
from tenuto.core.approval import Approval, Decision
from tenuto.core.file import FileInfo
from tenuto.core.job import Job
from tenuto.core.question import Answers, Question
from tenuto.core.run import Run, RunStatus
from tenuto.core.session import Session, Workspace
from tenuto.core.value import ApprovalId, JobId, QuestionId, RunId, SessionId, Value, WorkspaceId
from tenuto.ports.query import NodeStanding


class OfferedModel(Value):
    id: str
    name: str
    provider: str
    context_window: int
    capabilities: tuple[str, ...] = ()


class OfferedModels(Value):
    models: tuple[OfferedModel, ...]
    default: str | None = None
    """None: no model can be asked now."""


class Client:
    """`async with Client(url, token) as tenuto:` connects to a server when first asked."""

    def __init__(self, url: str, token: str, *, patience: Patience | None = None) -> None:
        self._wire = ServerLink(url, token, patience=patience or Patience())

    async def __aenter__(self) -> Self:
        await self._wire.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._wire.close()

    async def models(self) -> OfferedModels:
        return msgspec.json.decode(await self._get("/api/models"), type=OfferedModels)

    async def workspaces(self) -> tuple[Workspace, ...]:
        answer = await self._get("/api/workspaces")
        return msgspec.json.decode(answer, type=_Workspaces).workspaces

    async def workspace(self, workspace_id: WorkspaceId) -> Workspace:
        answer = await self._get(f"/api/workspaces/{workspace_id}")
        return msgspec.json.decode(answer, type=Workspace)

    async def nodes(self) -> Sequence[NodeStanding]:
        """The servers that share the database, and how each is."""
        return msgspec.json.decode(await self._get("/api/nodes"), type=_Nodes).nodes

    async def create_workspace(
        self,
        name: str,
        *,
        path: str,
        home: str | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Workspace:
        """Share a folder that exists on the server, or on the node that is its home."""
        body = set_only({"name": name, "path": path, "home": home})
        answer = await self._wire.ask(creation("/api/workspaces", body, idempotency_key))
        return msgspec.json.decode(answer, type=Workspace)

    async def update_workspace(
        self,
        workspace_id: WorkspaceId,
        *,
        name: str | UnsetType = UNSET,
        path: str | UnsetType = UNSET,
        home: str | UnsetType = UNSET,
    ) -> Workspace:
        body = encode(set_only({"name": name, "path": path, "home": home}))
        answer = await self._wire.ask(
            Request(method="PATCH", path=f"/api/workspaces/{workspace_id}", body=body)
        )
        return msgspec.json.decode(answer, type=Workspace)

    async def delete_workspace(self, workspace_id: WorkspaceId) -> None:
        await self._wire.ask(Request(method="DELETE", path=f"/api/workspaces/{workspace_id}"))

    def workspace_events(
        self, workspace_id: WorkspaceId, *, after: After = None
    ) -> AsyncGenerator[Seen | WorkspaceSnapshot, None]:
        """What happens in a workspace, session by session; never ends by itself."""
        return Follower(
            self._wire,
            f"/api/workspaces/{workspace_id}/events",
            after=after,
            numbers=Numbers.ALL,
            snapshot=WorkspaceSnapshot,
            is_last=lambda _: False,
        ).follow()

    async def create_session(
        self,
        *,
        workspace: WorkspaceId | UnsetType = UNSET,
        title: str | UnsetType = UNSET,
        model: str | UnsetType = UNSET,
        system: str | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> SessionHandle:
        body = set_only({"workspace": workspace, "title": title, "model": model, "system": system})
        return await start_session(self._wire, "/api/sessions", body, key=idempotency_key)

    def session(self, session_id: SessionId) -> SessionHandle:
        return SessionHandle(self._wire, session_id)

    async def sessions(
        self,
        *,
        workspace: WorkspaceId | UnsetType = UNSET,
        q: str | UnsetType = UNSET,
        archived: bool | UnsetType = UNSET,
        limit: int | UnsetType = UNSET,
    ) -> AsyncIterator[Session]:
        """Newest activity first, page by page; `limit` is the size of a page."""
        asked = set_only({"workspace": workspace, "q": q, "archived": archived, "limit": limit})
        params = {name: _in_query(value) for name, value in asked.items()}
        cursor: str | None = ""
        while cursor is not None:
            answer = await self._get(
                "/api/sessions", {**params, "cursor": cursor} if cursor else params
            )
            page = msgspec.json.decode(answer, type=_SessionPage)
            for session in page.sessions:
                yield session
            cursor = page.next

    def run(self, run_id: RunId) -> RunHandle:
        return RunHandle(self._wire, run_id)

    def runs(self, *, status: RunStatus | UnsetType = UNSET) -> AsyncIterator[Run]:
        """Runs of all sessions, newest first."""
        return pages_of_runs(self._wire, "/api/runs", set_only({"status": status}))

    async def answer(
        self, approval_id: ApprovalId, decision: Decision, *, note: str | UnsetType = UNSET
    ) -> Approval:
        """Answer an approval; the first answer wins."""
        body = set_only({"decision": decision, "note": note})
        answer = await self._wire.ask(creation(f"/api/approvals/{approval_id}", body, None))
        return msgspec.json.decode(answer, type=Approval)

    async def stop_job(self, job_id: JobId) -> Job:
        """The job as it ended, to its last process."""
        answer = await self._wire.ask(Request(method="POST", path=f"/api/jobs/{job_id}/stop"))
        return msgspec.json.decode(answer, type=Job)

    async def answer_question(self, question_id: QuestionId, answers: Answers | None) -> Question:
        """Answer a question, or dismiss it (None); the first answer wins."""
        body = {"dismiss": True} if answers is None else {"answers": answers}
        answer = await self._wire.ask(creation(f"/api/questions/{question_id}", body, None))
        return msgspec.json.decode(answer, type=Question)

    async def upload(
        self,
        name: str,
        content: bytes,
        *,
        media_type: str = "application/octet-stream",
        idempotency_key: str | None = None,
    ) -> FileInfo:
        """Give the server a file, to be used in prompts as `InputFile(file_id=…)`."""
        form = aiohttp.MultipartWriter("form-data")
        part = form.append(content, {"Content-Type": media_type})
        part.set_content_disposition("form-data", name="file", filename=name)
        request = Request(
            method="POST",
            path="/api/files",
            body=await form.as_bytes(),
            key=idempotency_key or new_key(),
            media_type=form.content_type,
        )
        return msgspec.json.decode(await self._wire.ask(request), type=FileInfo)

    async def _get(self, path: str, params: dict[str, str] | None = None) -> bytes:
        return await self._wire.ask(Request(method="GET", path=path, params=params or {}))


def _in_query(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class _Nodes(Value):
    nodes: tuple[NodeStanding, ...]


class _Workspaces(Value):
    workspaces: tuple[Workspace, ...]


class _SessionPage(Value):
    sessions: tuple[Session, ...]
    next: str | None
