"""A store that a test can narrow: what it hides is not there, whoever looks."""

from typing import Any, cast

from tenuto.core.error import NotFound
from tenuto.core.principal import Principal
from tenuto.core.value import FileId, SessionId
from tenuto.ports.query import RunQuery
from tenuto.ports.view import View
from tenuto.storage.memory import MemoryStore

BY_SESSION = ("session", "snapshot", "messages", "user_message", "things", "read")


class NarrowStore(MemoryStore):
    """Shows everything to everyone, until it is told what to hide."""

    hidden: SessionId | None = None
    """A session that nobody sees, and nothing that is of it."""
    blind = False
    """Nobody sees anything."""

    def seen_by(self, who: Principal) -> View:
        return cast("View", Narrowed(self))


class Narrowed:
    def __init__(self, store: NarrowStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        async def look(*args: Any, **options: Any) -> Any:
            if self._store.blind or self._hides(name, args):
                raise NotFound("there is no such thing")
            found = await getattr(self._store, name)(*args, **options)
            if self._is_of_it(found):
                raise NotFound("there is no such thing")
            return found

        return look

    def _hides(self, name: str, args: tuple[Any, ...]) -> bool:
        hidden, asked = self._store.hidden, (*args, None)[0]
        if name in BY_SESSION:
            return bool(asked == hidden)
        if name in ("file", "file_content"):
            return hidden in self._store._state.uses.get(FileId(asked), ())
        return isinstance(asked, RunQuery) and asked.session_id == hidden and hidden is not None

    def _is_of_it(self, found: Any) -> bool:
        hidden = self._store.hidden
        run = getattr(found, "run", found)
        panes = getattr(getattr(found, "comparison", None), "panes", ())
        ids = [getattr(run, "session_id", None), *(pane.session_id for pane in panes)]
        return hidden is not None and hidden in ids
