"""Keeps what a file was, before anything else is put in its place."""

import os

from msgspec.structs import replace

from tenuto.core.error import NotFound
from tenuto.core.file import FileInfo
from tenuto.core.file_change import FileState, kept_as
from tenuto.core.text import cut, whole
from tenuto.core.value import PrincipalId, SessionId
from tenuto.engine.insist import insist
from tenuto.engine.node import Node
from tenuto.ports.changes import SeenFile
from tenuto.ports.store import Store

MEDIA_TYPE = "application/octet-stream"
NAME_CHARACTERS = 200


class ByteKeeper:
    """The bytes of one session: each content once a day."""

    def __init__(self, store: Store, node: Node, session_id: SessionId) -> None:
        self._store = store
        self._node = node
        self._session_id = session_id

    async def keep(self, path: str, seen: SeenFile | None, *, by: PrincipalId) -> FileState | None:
        """Its state, with where its bytes are from now on."""
        if seen is None or seen.content is None:
            return None if seen is None else seen.state
        content, now = seen.content, self._node.clock.now()
        info = FileInfo(
            id=kept_as(self._session_id, content, now),
            name=cut(whole(os.path.basename(path)), NAME_CHARACTERS),
            media_type=MEDIA_TYPE,
            size=len(content),
            by=by,
            created_at=now,
        )
        try:
            await insist(lambda: self._store.file(info.id), clock=self._node.clock)
        except NotFound:
            await insist(lambda: self._store.put_file(info, content), clock=self._node.clock)
        return replace(seen.state, file_id=info.id)

    async def read(self, state: FileState | None) -> bytes | None:
        """Its bytes; None: nobody has kept them, or they were too old."""
        file_id = None if state is None else state.file_id
        if file_id is None:
            return None
        try:
            return await insist(lambda: self._store.file_content(file_id), clock=self._node.clock)
        except NotFound:
            return None
