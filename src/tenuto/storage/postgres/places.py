"""Workspaces, files, kept values and usage."""

from collections import OrderedDict
from collections.abc import Callable, Sequence

from tenuto.core.day_usage import DayUsage
from tenuto.core.error import Conflict, SessionBusy
from tenuto.core.file import FileInfo
from tenuto.core.session import Workspace
from tenuto.core.value import FileId, PrincipalId, WorkspaceId
from tenuto.ports.query import Once
from tenuto.ports.store import KeptValue
from tenuto.storage.assemble import day_usage, decode, decode_all
from tenuto.storage.missing import no_such
from tenuto.storage.postgres.connections import storable
from tenuto.storage.postgres.parts import StoreParts
from tenuto.storage.postgres.writing import remember
from tenuto.storage.statements import encode

CHUNK_BYTES = 256 * 1024
SHELF_BYTES = 64 * 1024 * 1024


class PostgresPlaces:
    _parts: StoreParts

    async def workspaces(self) -> Sequence[Workspace]:
        return decode_all(await self._parts.fetch("workspaces"), Workspace)

    async def workspace(self, workspace_id: WorkspaceId) -> Workspace:
        row = await self._parts.row("workspace", workspace_id)
        if row is None:
            raise no_such("workspace", workspace_id)
        return decode(row[0], Workspace)

    async def put_workspace(self, workspace: Workspace, *, once: Once | None = None) -> Workspace:
        kept = remember(once, None, workspace)
        key, answer = (None, None) if kept is None else kept.columns()
        token = self._parts.writes.token()
        values = [token, key, answer, workspace.id, workspace.created_at, encode(workspace)]
        row = await self._parts.writes.write("put_workspace", values)
        if row["said"] == "answered":
            return await self._parts.first(once, Workspace)
        return workspace

    async def change_workspace(
        self, workspace_id: WorkspaceId, change: Callable[[Workspace], Workspace]
    ) -> Workspace:
        while True:
            row = await self._parts.row("workspace", workspace_id)
            if row is None:
                raise no_such("workspace", workspace_id)
            changed = change(decode(row[0], Workspace))
            # Compared byte by byte: what another version wrote may not be what we would write.
            values = [self._parts.writes.token(), workspace_id, row[0], encode(changed)]
            said = (await self._parts.writes.write("change_workspace", values))["said"]
            if said != "changed":
                return changed

    async def delete_workspace(self, workspace_id: WorkspaceId) -> None:
        values = [self._parts.writes.token(), storable(workspace_id)]
        said = (await self._parts.writes.write("delete_workspace", values))["said"]
        if said == "busy":
            raise SessionBusy(f"workspace {workspace_id} still has sessions")
        if said == "no_workspace":
            raise no_such("workspace", workspace_id)

    async def kept(self, name: str) -> KeptValue | None:
        row = await self._parts.row("kept", name)
        return None if row is None else KeptValue(body=row["body"], rev=row["rev"])

    async def keep(self, name: str, body: bytes, *, rev: int) -> int:
        values = [self._parts.writes.token(), name, body, rev]
        said = (await self._parts.writes.write("keep", values))["said"]
        if said == "changed":
            raise Conflict(f"{name} was changed meanwhile")
        self._parts.ringer.ring_kept(name)
        return rev + 1

    async def usage(
        self,
        *,
        since: str,
        workspace_id: WorkspaceId | None = None,
        by: PrincipalId | None = None,
    ) -> Sequence[DayUsage]:
        rows = await self._parts.fetch("usage_since", since, workspace_id, by)
        return tuple(day_usage(tuple(row)) for row in rows)


class Shelf:
    """The files that were read last: they never change, and a run reads them at every step."""

    def __init__(self) -> None:
        self._files: OrderedDict[FileId, bytes] = OrderedDict()
        self._bytes = 0

    def get(self, file_id: FileId) -> bytes | None:
        content = self._files.get(file_id)
        if content is not None:
            self._files.move_to_end(file_id)
        return content

    def put(self, file_id: FileId, content: bytes) -> None:
        if file_id in self._files or len(content) > SHELF_BYTES // 2:
            return
        self._files[file_id] = content
        self._bytes += len(content)
        while self._bytes > SHELF_BYTES:
            _, gone = self._files.popitem(last=False)
            self._bytes -= len(gone)

    def drop(self, file_id: FileId) -> None:
        self._bytes -= len(self._files.pop(file_id, b""))


class PostgresFiles:
    _parts: StoreParts
    _shelf: Shelf

    async def put_file(
        self, info: FileInfo, content: bytes, *, once: Once | None = None
    ) -> FileInfo:
        kept = remember(once, None, info)
        key, answer = (None, None) if kept is None else kept.columns()
        pieces = [content[n : n + CHUNK_BYTES] for n in range(0, len(content), CHUNK_BYTES)]
        token = self._parts.writes.token()
        values = [token, key, answer, info.id, encode(info), info.created_at, pieces]
        row = await self._parts.writes.write("put_file", values)
        return await self._parts.first(once, FileInfo) if row["said"] == "answered" else info

    async def file(self, file_id: FileId) -> FileInfo:
        row = await self._parts.row("file", file_id)
        if row is None:
            raise no_such("file", file_id)
        return decode(row[0], FileInfo)

    async def file_content(self, file_id: FileId) -> bytes:
        # Looked for also if it is on the shelf: it may have gone with its session.
        try:
            await self.file(file_id)
        except Exception:
            self._shelf.drop(file_id)
            raise
        content = self._shelf.get(file_id)
        if content is None:
            rows = await self._parts.fetch("file_content", file_id)
            content = b"".join(row["content"] for row in rows)
            self._shelf.put(file_id, content)
        return content
