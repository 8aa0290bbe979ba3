"""Which store a server is on, and the token that all nodes of a shared one have in common."""

import os

from tenuto.config import Secret, Settings, new_token
from tenuto.core.error import Conflict, StorageTrouble
from tenuto.ports.points import Points
from tenuto.ports.store import Keeping, Sink, Store
from tenuto.storage.memory import MemoryStore
from tenuto.storage.moving import is_half_moved
from tenuto.storage.sqlite import SqliteStore

TOKEN = "token"
"""The name under which a store keeps it."""
FORGETFUL = "TENUTO_TEST_FORGETFUL"
"""Set by tests alone: their PostgreSQL need not outlive its machine."""


def open_store(settings: Settings, sink: Sink, node: str, points: Points) -> Store:
    """The one that the settings name, not opened yet."""
    if settings.is_shared:
        return _postgres(settings, sink, node, points)
    path = settings.sqlite_path
    if path is None:
        return MemoryStore(sink)
    return SqliteStore(path, sink, points=points)


def _postgres(settings: Settings, sink: Sink, node: str, points: Points) -> Store:
    # Its driver is only for those who use it.
    from tenuto.storage.postgres import Durability, PostgresStore

    return PostgresStore(
        settings.database,
        sink,
        direct=settings.database_direct or None,
        name=node,
        durability=Durability.TESTS_ONLY if os.environ.get(FORGETFUL) else Durability.REQUIRED,
        points=points,
    )


async def must_be_whole(store: Store) -> None:
    if await is_half_moved(store):
        raise StorageTrouble(
            "a move into this database was not finished: give the same `tenuto migrate` again"
        )


async def shared_token(settings: Settings, store: Keeping) -> Secret:
    """The token of the settings, else the one that is kept for all nodes, else a new one: whoever
    keeps one first, all others have it too."""
    if settings.token is not None:
        return settings.token
    kept = await store.kept(TOKEN)
    if kept is None:
        try:
            await store.keep(TOKEN, new_token().encode(), rev=0)
        except Conflict:
            pass
        kept = await store.kept(TOKEN)
    if kept is None or not kept.body:
        raise StorageTrouble("the token that the database keeps is empty: give TENUTO_TOKEN")
    return Secret(kept.body.decode())
