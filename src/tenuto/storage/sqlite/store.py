"""The SQLite store."""

from collections.abc import Sequence
from pathlib import Path

from tenuto.core.principal import Principal
from tenuto.ports.points import NOWHERE, Points
from tenuto.ports.store import Sink
from tenuto.ports.view import View
from tenuto.storage.sqlite.comparisons import SqliteComparisons
from tenuto.storage.sqlite.desks import SqliteDesks
from tenuto.storage.sqlite.file.db import Database
from tenuto.storage.sqlite.files import SqliteFiles
from tenuto.storage.sqlite.keeping import SqliteKeeping
from tenuto.storage.sqlite.library import SqliteLibrary
from tenuto.storage.sqlite.migration import Migration, shipped
from tenuto.storage.sqlite.outputs import SqliteOutputs
from tenuto.storage.sqlite.upkeep import SqliteUpkeep
from tenuto.storage.sqlite.usage import SqliteUsage
from tenuto.storage.sqlite.workspaces import SqliteWorkspaces


class SqliteStore(
    SqliteDesks,
    SqliteLibrary,
    SqliteComparisons,
    SqliteUsage,
    SqliteWorkspaces,
    SqliteFiles,
    SqliteOutputs,
    SqliteKeeping,
    SqliteUpkeep,
):
    """Everything in one file, which one server at a time may use."""

    def __init__(
        self,
        path: Path,
        sink: Sink,
        *,
        migrations: Sequence[Migration] | None = None,
        points: Points = NOWHERE,
    ) -> None:
        steps = shipped() if migrations is None else migrations
        self._db = Database(path, sink, steps, points=points)

    def seen_by(self, who: Principal) -> View:
        return self
