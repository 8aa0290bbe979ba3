"""What must be one change, or one look, is one."""

from pathlib import Path

import anyio
import pytest

from tenuto.core.principal import OWNER
from tenuto.engine.engine import Switchboard
from tenuto.ports.store import Store
from tenuto.storage.memory import MemoryStore
from tenuto.storage.sqlite import SqliteStore
from tests.conformance.driven import DrivenSession, make_workspace
from tests.conformance.listener import Listener
from tests.engine.harness import EngineHarness

pytestmark = pytest.mark.anyio


async def test_a_snapshot_and_its_cursor_are_of_one_moment(tmp_path: Path) -> None:
    """Texts are appended without a break; whoever looks sees exactly those up to the cursor."""
    store: Store = SqliteStore(tmp_path / "tenuto.db", Listener())
    await store.open()
    try:
        await make_workspace(store)
        driven = await DrivenSession.begin(store)
        await driven.accept("one")
        await driven.start()
        head = await driven.say("0")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(driven.go_on_saying, *["."] * 300)
            while (snapshot := await store.snapshot(driven.id)).session.head < head + 300:
                assert len(snapshot.messages[-1].text()) == 1 + snapshot.session.head - head
    finally:
        await store.close()


class GroupListener(Listener):
    """Remembers what was told together."""

    def together(self, session_id: str) -> list[list[str]]:
        return [[one.type for one in stored] for log, stored in self.heard if log == session_id]


async def test_asking_again_removes_and_accepts_in_one_change() -> None:
    witness = GroupListener()
    harness = EngineHarness(MemoryStore(witness), Switchboard())
    driven = await harness.session()
    await driven.accept("one")
    await driven.start()
    await driven.say("Hello")
    await driven.settle()
    witness.heard.clear()
    await harness.inbox.retry(driven.id, model=None, by=OWNER)
    assert witness.together(driven.id) == [["session.rewound", "run.accepted"]]
