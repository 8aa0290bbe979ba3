"""A server that starts removes what the one before it left beside a file."""

from functools import partial
from pathlib import Path

import anyio.to_thread
import pytest

from tests.support.raw import RawApi
from tests.support.server import TenutoServer
from tests.tools.test_drafts import leave

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.guarantee("E8"),
    pytest.mark.one_node("it kills the server"),
]


async def test_a_start_removes_the_draft_of_a_server_that_was_killed(
    server: TenutoServer, raw: RawApi
) -> None:
    folder = Path((await raw.get("/api/workspaces/default"))["path"])
    await server.kill()
    draft = await anyio.to_thread.run_sync(partial(leave, "write", server.data, folder))
    assert draft.parent == folder / "made"
    await server.start()
    assert [*(folder / "made").iterdir()] == []
