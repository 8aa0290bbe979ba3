"""Nodes that write one session at the same time: nobody loses, nobody waits for ever."""

from functools import partial

import anyio
import pytest
from msgspec.structs import replace

from tenuto.core.desk import Change, Desk
from tenuto.core.value import StreamId
from tenuto.storage.postgres import PostgresStore, desks
from tests.conformance.driven import DrivenSession, make_workspace, whole_log
from tests.storage.postgres.conftest import on
from tests.storage.postgres.test_doubt import line_to, piece, speaking
from tests.support.bad_line import Fate

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(90)]


@pytest.mark.guarantee("H6")
async def test_one_node_decides_while_another_speaks_and_no_number_is_missing(
    database: str,
) -> None:
    async with on(database) as speaker, on(database) as other:
        await make_workspace(speaker)
        driven = await speaking(speaker, "one")
        open_id, elsewhere = await driven.open_id(), DrivenSession(other, driven.id)
        before = (await speaker.session(driven.id)).head
        done = anyio.Event()
        pieces = 0

        async def speak() -> None:
            nonlocal pieces
            while not done.is_set():
                await driven.append(piece(driven, open_id, str(pieces)))
                pieces += 1

        async with anyio.create_task_group() as group:
            group.start_soon(speak)
            for n in range(30):
                await elsewhere.update(draft=f"draft {n}")
            done.set()
        page = await other.read(StreamId(driven.id), after=0, limit=100_000)
        assert [stored.seq for stored in page.events] == list(range(1, before + pieces + 31))
        assert (await speaker.session(driven.id)).draft == "draft 29"


async def test_nodes_that_change_one_session_all_count(database: str) -> None:
    async with on(database) as one, on(database) as two, on(database) as three:
        await make_workspace(one)
        driven = await DrivenSession.begin(one)
        async with anyio.create_task_group() as group:
            for store, name in ((one, "a"), (two, "b"), (three, "c")):
                here = DrivenSession(store, driven.id)
                here._names = iter(  # type: ignore[assignment]
                    range({"a": 100, "b": 200, "c": 300}[name], 999)
                )
                for n in range(10):
                    group.start_soon(partial(here.accept, f"{name}{n}"))
        control = await two.control(driven.id)
        assert control.accept_count == len(set(control.queue)) == 30
        shared = await whole_log(three, "default")
        kinds = [type(event).__struct_config__.tag for event in shared]
        assert kinds.count("run.accepted") == 30


async def test_nodes_that_change_only_what_the_engine_sees_all_count(database: str) -> None:
    """No event is stored by it, so that nothing but the row itself can say that it has moved."""

    def count(desk: Desk) -> Change[None]:
        counted = replace(desk.control, accept_count=desk.control.accept_count + 1)
        return Change(events=(), control=counted, result=None)

    async with on(database) as one, on(database) as two:
        await make_workspace(one)
        driven = await DrivenSession.begin(one)

        async def decide(store: PostgresStore) -> None:
            for _ in range(20):
                await store.commit(driven.id, count)

        async with anyio.create_task_group() as group:
            group.start_soon(decide, one)
            group.start_soon(decide, two)
        assert (await one.control(driven.id)).accept_count == 40


@pytest.mark.parametrize("fate", [Fate.PASS, Fate.DROP])
async def test_the_last_resort_stores_once_too(
    database: str, monkeypatch: pytest.MonkeyPatch, fate: Fate
) -> None:
    monkeypatch.setattr(desks, "TRIES", 0)
    async with line_to(database) as line, on(line.url("alone")) as store:
        await make_workspace(store)
        driven = await DrivenSession.begin(store)
        line.order(fate, b"COMMIT")
        run = await driven.accept("only once")
        assert (await store.snapshot(driven.id)).runs == (run,)
        await driven.start()
        await driven.say("a", "b")
        await driven.settle()
        assert len((await store.snapshot(driven.id)).messages) == 2
