"""What must be one change, or one look, is one."""

from pathlib import Path

import anyio
import pytest

from tenuto.core.principal import OWNER
from tenuto.engine.engine import Switchboard
from tenuto.ports.store import Store
from tenuto.storage.memory import MemoryStore
from tenuto.storage.sqlite import SqliteStore
from tests.conformance.life import Life, make_workspace
from tests.conformance.listener import Listener
from tests.mutation.stage import Stage

pytestmark = pytest.mark.anyio


async def test_a_snapshot_and_its_cursor_are_of_one_moment(tmp_path: Path) -> None:
    """Texts are appended without a break; whoever looks sees exactly those up to the cursor."""
    store: Store = SqliteStore(tmp_path / "tenuto.db", Listener())
    await store.open()
    try:
        await make_workspace(store)
        life = await Life.begin(store)
        await life.accept("one")
        await life.start()
        head = await life.say("0")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(life.go_on_saying, *["."] * 300)
            while (snapshot := await store.snapshot(life.id)).session.head < head + 300:
                assert len(snapshot.messages[-1].text()) == 1 + snapshot.session.head - head
    finally:
        await store.close()


class Witness(Listener):
    """Remembers what was told together."""

    def together(self, session_id: str) -> list[list[str]]:
        return [[one.type for one in stored] for log, stored in self.heard if log == session_id]


async def test_asking_again_removes_and_accepts_in_one_change() -> None:
    witness = Witness()
    stage = Stage(MemoryStore(witness), Switchboard())
    life = await stage.session()
    await life.accept("one")
    await life.start()
    await life.say("Hello")
    await life.settle()
    witness.heard.clear()
    await stage.inbox.retry(life.id, model=None, by=OWNER)
    assert witness.together(life.id) == [["session.rewound", "run.accepted"]]
