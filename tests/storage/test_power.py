"""What was acknowledged is there after the process, or the power, was cut."""

import os
import signal
from pathlib import Path

import pytest

from tenuto.core.value import SessionId, StreamId
from tenuto.ports.query import SessionQuery
from tests.conformance.driven import DrivenSession, make_workspace
from tests.storage.conftest import opened
from tests.storage.files import child, content_of, put, wal_of

pytestmark = pytest.mark.anyio

WRITER = """
import asyncio, os, sys
from pathlib import Path
from tenuto.storage.sqlite import SqliteStore
from tests.conformance.driven import DrivenSession, make_workspace
from tests.conformance.listener import Listener

async def write(store, n):
    driven = await DrivenSession.begin(store, f"w{n}")
    await driven.accept(f"prompt {n}")
    await driven.start()
    await driven.say("", part="prt_a")
    while True:
        head = await driven.go_on_saying(f"piece of {n} ", part="prt_a")
        os.write(1, f"{n} {head}\\n".encode())

async def main():
    store = SqliteStore(Path(sys.argv[1]), Listener())
    await store.open()
    await make_workspace(store)
    await asyncio.gather(*(write(store, n) for n in range(4)))

asyncio.run(main())
"""


@pytest.mark.guarantee("H3", "H5", "H2")
@pytest.mark.failure(6, 14)
@pytest.mark.parametrize("acknowledged", [1, 40, 400])
async def test_every_acknowledged_event_is_there_after_a_kill(
    path: Path, acknowledged: int
) -> None:
    writer = child(WRITER, path)
    assert writer.stdout is not None
    said = b"".join(writer.stdout.readline() for _ in range(acknowledged))
    os.kill(writer.pid, signal.SIGKILL)
    said += writer.communicate()[0]
    # What was in the pipe when it died was acknowledged too; a torn last line was not.
    heads: dict[SessionId, int] = {}
    for line in said.decode().splitlines(keepends=True):
        if line.endswith("\n"):
            n, last = line.split()
            heads[SessionId(f"ses_w{n}")] = int(last)

    assert heads
    async with opened(path) as store:
        for session_id, head in heads.items():
            page = await store.read(StreamId(session_id), after=0, limit=1_000_000)
            assert page.head >= head
            assert [stored.seq for stored in page.events] == list(range(1, page.head + 1))
            driven = DrivenSession(store, session_id)
            snapshot = await store.snapshot(session_id)
            assert snapshot.messages == (await driven.transcript()).messages()
        listed = {s.id for s in (await store.sessions(SessionQuery())).sessions}
        assert listed >= set(heads)


@pytest.mark.guarantee("H6")
@pytest.mark.parametrize("missing", [1, 3000, 4100])
async def test_a_torn_write_at_the_end_takes_nothing_else_with_it(path: Path, missing: int) -> None:
    async with opened(path) as store:
        await make_workspace(store)
        driven = await DrivenSession.begin(store)
        await driven.accept("hello")
        await driven.start()
        await driven.say("kept")
        kept = await store.snapshot(driven.id)
        await driven.go_on_saying("torn", offset=4)
        # The files as a power cut leaves them: the last commit is not whole.
        cut = path.with_name("cut.db")
        put(cut, content_of(path))
        put(wal_of(cut), content_of(wal_of(path))[:-missing])
    async with opened(cut) as store:
        assert await store.snapshot(driven.id) == kept
        driven.store = store
        await driven.go_on_saying(" and more", offset=4)
        assert (await store.snapshot(driven.id)).messages[-1].text() == "kept and more"
