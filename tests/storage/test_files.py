"""The files of a database that is older than the knowledge of who uses them."""

from pathlib import Path

import apsw
import pytest

from tenuto.core.error import NotFound
from tenuto.core.file import FileInfo
from tenuto.core.run import InputFile
from tenuto.core.value import FileId, Instant
from tests.conformance.driven import START, DrivenSession, make_workspace
from tests.storage.conftest import opened

pytestmark = pytest.mark.anyio
BEFORE_THE_USES = 3


def make_older(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(
        "DROP INDEX files_unused; ALTER TABLE files DROP COLUMN unused_since; DROP TABLE file_uses;"
        " ALTER TABLE compactions DROP COLUMN through_part_id; DROP TABLE kept;"
        " DROP TABLE outputs; DROP TABLE things; CREATE TABLE approvals (session_id, id, seq, state, body)"
    )
    connection.execute(f"PRAGMA user_version = {BEFORE_THE_USES}")
    connection.close()


async def test_an_older_file_learns_which_sessions_use_its_files(path: Path) -> None:
    async with opened(path) as store:
        await make_workspace(store)
        for name in ("queued", "said", "unused"):
            file_id = FileId(f"fil_{name}")
            info = FileInfo(id=file_id, name="a", media_type="a/b", size=3, created_at=START)
            await store.put_file(info, b"abc")
        queued, said = (
            await DrivenSession.begin(store, "queued"),
            await DrivenSession.begin(store, "said"),
        )
        await said.accept([InputFile(file_id=FileId("fil_said"))])  # type: ignore[arg-type]
        await said.start()
        await said.settle()
        await queued.accept([InputFile(file_id=FileId("fil_queued"))])  # type: ignore[arg-type]
    make_older(path)
    async with opened(path) as store:
        await store.purge(before=Instant("2031-01-01T00:00:00.000Z"))
        for name in ("queued", "said"):
            assert await store.file_content(FileId(f"fil_{name}")) == b"abc"
        with pytest.raises(NotFound):
            await store.file(FileId("fil_unused"))
        await said.__class__(store, said.id).delete()
        with pytest.raises(NotFound):
            await store.file(FileId("fil_said"))
