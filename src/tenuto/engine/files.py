"""Files: what prompts can carry, kept as they came."""

from tenuto.core.file import FileInfo
from tenuto.core.principal import Principal
from tenuto.core.value import FileId
from tenuto.engine.node import Node
from tenuto.ports.query import Once
from tenuto.ports.store import Store


class FileKeeper:
    def __init__(self, store: Store, node: Node) -> None:
        self._store = store
        self._node = node

    async def put(
        self,
        content: bytes,
        *,
        name: str,
        media_type: str,
        by: Principal,
        once: Once | None = None,
    ) -> FileInfo:
        info = FileInfo(
            id=FileId(self._node.ids.new("fil")),
            name=name,
            media_type=media_type,
            size=len(content),
            by=by.id,
            created_at=self._node.clock.now(),
        )
        return await self._store.put_file(info, content, once=once)
