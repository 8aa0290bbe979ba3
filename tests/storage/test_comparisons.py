"""A file from before there were comparisons."""

from pathlib import Path

import apsw
import pytest
from msgspec.structs import replace

from tenuto.core.principal import OWNER
from tenuto.core.value import PrincipalId
from tenuto.ports.query import Once, SessionQuery
from tenuto.storage.sqlite.migration import APPLICATION_ID, shipped
from tests.conformance.driven import START, DrivenSession
from tests.conformance.test_comparisons import begin, vote
from tests.storage.conftest import opened
from tests.storage.test_opening import backups_of

pytestmark = pytest.mark.anyio

SESSION = b"""{"id":"ses_old","workspace_id":"default","title":"Old zebra","model":"m/x",
"created_at":"2030-01-01T00:00:00.000Z","updated_at":"2030-01-01T00:00:00.000Z","head":0}"""
RUN = b"""{"id":"run_old","session_id":"ses_old","status":"completed","reason":"end_turn",
"model":"m/x","mode":"agent","when_busy":"queue","on_disconnect":"continue","accept_number":1,
"accepted_at":"2030-01-01T00:00:00.000Z","started_at":"2030-01-01T00:00:00.000Z",
"finished_at":"2030-01-01T00:00:00.000Z","input":"hi","usage":{"input_tokens":1,
"output_tokens":2,"reasoning_tokens":0,"exact":true,"cost_usd":null}}"""
WORKSPACE = b"""{"id":"default","name":"Default","path":"/srv",
"created_at":"2030-01-01T00:00:00.000Z"}"""


def make_old_file(path: Path) -> None:
    """The tables of the first version, with one session in them, as that version wrote it."""
    connection = apsw.Connection(str(path))
    connection.execute(shipped()[0].sql)
    connection.execute(f"PRAGMA user_version = 1; PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("INSERT INTO logs (stream) VALUES ('default'), ('ses_old')")
    for statement, values in (
        ("INSERT INTO workspaces VALUES ('default', ?, ?)", (START, WORKSPACE)),
        ("INSERT INTO sessions VALUES ('ses_old', 'default', 0, ?, ?, x'7b7d')", (START, SESSION)),
        (
            "INSERT INTO runs VALUES ('ses_old', 'run_old', 1, ?, 1, 'completed', ?)",
            (START, RUN),
        ),
        ("INSERT INTO answers VALUES ('k', 'd', ?, 'ses_old', x'37')", (START,)),
    ):
        connection.execute(statement, values)
    connection.close()


async def test_a_file_without_comparisons_is_copied_and_gets_them(path: Path) -> None:
    make_old_file(path)
    async with opened(path) as store:
        (old,) = (await store.sessions(SessionQuery())).sessions
        assert (old.id, old.model, old.comparison) == ("ses_old", "m/x", None)
        assert (await store.snapshot(old.id)).runs[0].model == "m/x"
        once = Once(by=OWNER.id, key="k", digest="d", at=START)
        assert await store.answered(once, int) == 7
        assert await store.answered(replace(once, by=PrincipalId("ann")), int) is None
        await DrivenSession(store, old.id).turn("hello", "hi")
        made, sessions = await begin(store)
        await sessions[0].turn("hello", "hi")
        await vote(store, made.id)
        assert (await store.session(sessions[0].id)).model == "secret/alpha"
        assert len((await store.sessions(SessionQuery())).sessions) == 1
        await DrivenSession(store, old.id).delete()
        assert await store.answered(once, int) is None
    (backup,) = backups_of(path)
    assert backup.name.startswith("tenuto.db.backup-v1-")


async def test_what_was_hidden_is_hidden_after_closing_and_opening(path: Path) -> None:
    make_old_file(path)
    async with opened(path) as store:
        made, sessions = await begin(store)
        await sessions[0].turn("hello", "hi")
    async with opened(path) as store:
        before = await store.snapshot(sessions[0].id)
        assert (before.session.model, before.runs[0].model) == (None, None)
        await vote(store, made.id)
        after = await store.snapshot(sessions[0].id)
        assert (after.session.model, after.runs[0].model) == ("secret/alpha", "secret/alpha")
