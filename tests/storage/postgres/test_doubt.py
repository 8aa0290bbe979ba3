"""An answer that is lost is found out: nothing is lost, and nothing is done twice."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from random import Random
from typing import Any
from urllib.parse import urlsplit

import anyio
import asyncpg
import pytest

from tenuto.core.error import InDoubt, StorageTrouble
from tenuto.core.event import PartDelta
from tenuto.core.principal import OWNER
from tenuto.core.session import Session
from tenuto.core.value import MessageId, PartId, StreamId
from tenuto.ports.query import Once
from tenuto.storage.postgres import PostgresStore
from tests.conformance.driven import (
    START,
    DrivenSession,
    instant,
    make_workspace,
    new_session,
    whole_log,
)
from tests.conformance.listener import Listener
from tests.storage.postgres.conftest import on
from tests.support.bad_line import BadLine, Fate

pytestmark = pytest.mark.anyio

SESSIONS, PIECES = 8, 40
PATIENT = 50


def line_to(database: str) -> BadLine:
    port = urlsplit(database).port
    assert port is not None
    return BadLine(port, Random(11))


async def speaking(store: PostgresStore, name: str) -> DrivenSession:
    driven = await DrivenSession.begin(store, name)
    await driven.accept("hello")
    await driven.start()
    await driven.say("", part="prt_text")
    return driven


@pytest.mark.timeout(120)
@pytest.mark.failure(41)
async def test_every_append_is_stored_once_however_often_the_line_breaks(database: str) -> None:
    async with line_to(database) as line, on(line.url("alone"), listener := Listener()) as store:
        await make_workspace(store)
        sessions = [await speaking(store, f"s{n}") for n in range(SESSIONS)]
        before = {driven.id: (await store.session(driven.id)).head for driven in sessions}
        open_ids = {driven.id: await driven.open_id() for driven in sessions}
        line.misbehave(cut=0.04, drop=0.06)

        async def speak(driven: DrivenSession) -> None:
            for n in range(PIECES):
                delta = piece(driven, open_ids[driven.id], f"<{n}>")
                assert await driven.append(delta) == before[driven.id] + n + 1

        with anyio.fail_after(PATIENT * 2):
            async with anyio.create_task_group() as group:
                for driven in sessions:
                    group.start_soon(speak, driven)
        line.behave()
        assert {Fate.CUT, Fate.DROP} <= set(line.suffered)
        for driven in sessions:
            log = await whole_log(store, driven.id)
            said = [event.text for event in log if isinstance(event, PartDelta)]
            assert said[1:] == [f"<{n}>" for n in range(PIECES)]
            page = await store.read(StreamId(driven.id), after=0, limit=1000)
            assert listener.of(driven.id) == list(page.events)


@pytest.mark.timeout(120)
@pytest.mark.failure(19)
async def test_every_decision_is_stored_once_however_often_the_line_breaks(database: str) -> None:
    async with line_to(database) as line, on(line.url("alone")) as store:
        await make_workspace(store)
        sessions = [await DrivenSession.begin(store, f"s{n}") for n in range(4)]
        line.misbehave(cut=0.05, drop=0.05)

        async def prompt(driven: DrivenSession) -> None:
            for n in range(10):
                # A line that breaks before anything was sent is told; nothing was stored then.
                await again(lambda: driven.accept(f"prompt {n}"))  # noqa: B023

        with anyio.fail_after(PATIENT * 2):
            async with anyio.create_task_group() as group:
                for driven in sessions:
                    group.start_soon(prompt, driven)
        line.behave()
        assert Fate.DROP in line.suffered
        for driven in sessions:
            runs = (await store.snapshot(driven.id)).runs
            assert [run.input for run in runs] == [f"prompt {n}" for n in range(10)]
        shared = await whole_log(store, "default")
        accepted = [e.run_id for e in shared if type(e).__struct_config__.tag == "run.accepted"]
        assert len(accepted) == len(set(accepted)) == 40


def piece(driven: DrivenSession, message_id: MessageId, text: str) -> PartDelta:
    return PartDelta(
        session_id=driven.id,
        run_id=driven.fence.run_id,
        at=START,
        message_id=message_id,
        part_id=PartId("prt_text"),
        offset=0,
        text=text,
    )


async def again(work: Callable[[], Awaitable[object]]) -> None:
    """Until it is not refused: whoever is refused was not heard."""
    while True:
        try:
            await work()
        except InDoubt:
            raise
        except StorageTrouble:
            await anyio.sleep(0.05)
        else:
            return


async def test_an_append_whose_answer_was_lost_is_not_sent_twice(database: str) -> None:
    async with line_to(database) as line, on(line.url("alone")) as store:
        await make_workspace(store)
        driven = await speaking(store, "one")
        before = (await store.session(driven.id)).head
        line.order(Fate.DROP, b"only once")
        assert await driven.go_on_saying("only once") == before + 1
        assert line.suffered == [Fate.DROP]
        assert (await store.session(driven.id)).head == before + 1


@pytest.mark.parametrize("fate", [Fate.CUT, Fate.DROP])
async def test_a_prompt_whose_answer_was_lost_is_one_run(database: str, fate: Fate) -> None:
    async with line_to(database) as line, on(line.url("alone")) as store:
        await make_workspace(store)
        driven = await DrivenSession.begin(store)
        line.order(fate, b"only once")
        run = await driven.accept("only once")
        assert line.suffered == [fate]
        assert (await store.snapshot(driven.id)).runs == (run,)
        assert [event.run_id for event in await whole_log(store, "default")][1:2] == [run.id]


async def test_what_is_made_is_made_once(database: str) -> None:
    once = Once(by=OWNER.id, key="k", digest="d", at=instant(1))
    async with line_to(database) as line, on(line.url("alone")) as store:
        await make_workspace(store)
        line.order(Fate.DROP, b"a title of its own")
        made = await store.create_session(new_session("a", title="a title of its own"), once=once)
        assert line.suffered == [Fate.DROP]
        assert await store.answered(once, Session) == made
        assert await store.session(made.id) == made
        line.order(Fate.DROP, b"kept by one")
        assert await store.keep("settings", b"kept by one", rev=0) == 1
        line.order(Fate.DROP, b"wsp_gone")
        await make_workspace(store, "wsp_gone")
        assert len(line.suffered) == 3
        assert [w.id for w in await store.workspaces()] == ["default", "wsp_gone"]


async def test_a_line_that_heard_nothing_for_a_while_looks_at_everything(database: str) -> None:
    listener = Listener()
    async with line_to(database) as line, on(line.url("alone"), listener) as store:
        await make_workspace(store)
        assert listener.resyncs == 0
        line.cut_all()
        with anyio.fail_after(PATIENT):
            while listener.resyncs == 0:  # noqa: ASYNC110
                await anyio.sleep(0.02)
        await store.check()


async def test_a_write_that_is_still_under_way_when_it_is_sent_again_is_waited_for(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    slow = await asyncpg.connect(database)
    async with on(database) as store:
        await make_workspace(store)
        driven = await DrivenSession.begin(store)
        send = store._parts.writes.write

        async def twice(name: str, values: Sequence[Any]) -> Any:
            async with slow.transaction():
                await slow.fetchrow(store._parts.sql[name], *values)
                again = asyncio.create_task(send(name, values))
                while not await slow.fetch("SELECT 1 FROM pg_locks WHERE NOT granted"):  # noqa: ASYNC110
                    await anyio.sleep(0.02)
            row = await again
            said.append(row["said"])
            return row

        monkeypatch.setattr(store._parts.writes, "write", twice)
        run = await driven.accept("once")
        assert said == ["done"]
        assert (await store.snapshot(driven.id)).runs == (run,)
    await slow.close()
