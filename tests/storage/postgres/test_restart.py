"""PostgreSQL stops, crashes, is killed, and comes back: what was begun goes on."""

import signal
import time
from functools import partial

import anyio
import anyio.to_thread
import pytest

from tenuto.core.error import InDoubt, StorageTrouble
from tenuto.core.event import PartDelta, RunAccepted
from tenuto.core.value import StreamId
from tenuto.storage.postgres import Durability, appender
from tests.conformance.driven import DrivenSession, make_workspace, whole_log
from tests.conformance.listener import Listener
from tests.storage.postgres.conftest import on
from tests.storage.postgres.test_doubt import again, line_to, piece, speaking
from tests.support.postgres import Server, fresh_database

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

ENDS = [signal.SIGINT, signal.SIGQUIT, signal.SIGKILL]
SOON = 30


@pytest.mark.parametrize("how", ENDS)
@pytest.mark.failure(41)
async def test_a_run_that_speaks_through_a_restart_loses_nothing_and_says_nothing_twice(
    crashing_postgres: Server, how: signal.Signals
) -> None:
    url = await fresh_database(crashing_postgres.url, "through")
    listener = Listener()
    async with on(url, listener, durability=Durability.REQUIRED) as store:
        await make_workspace(store)
        sessions = [await speaking(store, f"s{n}") for n in range(5)]
        open_ids = {driven.id: await driven.open_id() for driven in sessions}
        back, counts = anyio.Event(), dict.fromkeys(open_ids, 0)

        async def speak(driven: DrivenSession) -> None:
            while not back.is_set() or counts[driven.id] < 20:
                await driven.append(piece(driven, open_ids[driven.id], str(counts[driven.id])))
                counts[driven.id] += 1

        async with anyio.create_task_group() as group:
            for driven in sessions:
                group.start_soon(speak, driven)
            await anyio.to_thread.run_sync(crashing_postgres.restart, how)
            back.set()
        for driven in sessions:
            log = await whole_log(store, driven.id)
            said = [event.text for event in log if isinstance(event, PartDelta)]
            assert said[1:] == [str(n) for n in range(counts[driven.id])]
            page = await store.read(StreamId(driven.id), after=0, limit=100_000)
            assert listener.of(driven.id) == list(page.events)


@pytest.mark.parametrize("how", ENDS)
async def test_decisions_through_a_restart_are_stored_once_or_refused(
    crashing_postgres: Server, how: signal.Signals
) -> None:
    url = await fresh_database(crashing_postgres.url, "through")
    async with on(url, durability=Durability.REQUIRED) as store:
        await make_workspace(store)
        driven = await DrivenSession.begin(store)
        back = anyio.Event()
        prompts: list[str] = []

        async def prompt() -> None:
            while not back.is_set() or len(prompts) < 20:
                prompts.append(f"prompt {len(prompts)}")
                await again(partial(driven.accept, prompts[-1]))

        async with anyio.create_task_group() as group:
            group.start_soon(prompt)
            await anyio.to_thread.run_sync(crashing_postgres.restart, how)
            back.set()
        control = await store.control(driven.id)
        assert control.accept_count == len(control.queue) == len(prompts)
        log = await whole_log(store, driven.id)
        accepted = [event.run.input for event in log if isinstance(event, RunAccepted)]
        assert accepted == prompts


async def test_while_it_is_away_reads_and_decisions_say_so_at_once_and_appends_wait(
    crashing_postgres: Server,
) -> None:
    url = await fresh_database(crashing_postgres.url, "away")
    async with on(url, durability=Durability.REQUIRED) as store:
        await make_workspace(store)
        driven = await speaking(store, "one")
        open_id = await driven.open_id()
        await anyio.to_thread.run_sync(crashing_postgres.stop)
        began = time.monotonic()
        for refused in (
            lambda: store.session(driven.id),
            lambda: driven.accept("too soon"),
            store.workspaces,
            store.check,
        ):
            with pytest.raises(StorageTrouble) as told:
                await refused()
            assert not isinstance(told.value, InDoubt)
        # All four together, although each tried a broken line first.
        assert time.monotonic() - began < SOON
        waiting = store.append(driven.id, driven.fence, [piece(driven, open_id, "late")])
        assert not waiting.done()
        await anyio.to_thread.run_sync(crashing_postgres.start)
        with anyio.fail_after(SOON):
            seq = await waiting
        assert (await store.session(driven.id)).head == seq
        await store.check()


async def test_an_append_that_was_never_sent_is_surely_not_stored(
    crashing_postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(appender, "PATIENCE_SECONDS", 0.5)
    url = await fresh_database(crashing_postgres.url, "away")
    async with on(url, durability=Durability.REQUIRED) as store:
        await make_workspace(store)
        driven = await speaking(store, "one")
        late = piece(driven, await driven.open_id(), "late")
        await anyio.to_thread.run_sync(crashing_postgres.stop)
        # Its line is known to be broken: nothing can be sent on it.
        with pytest.raises(StorageTrouble) as told:
            await driven.append(late)
        await anyio.to_thread.run_sync(crashing_postgres.start)
        assert type(told.value) is StorageTrouble
        assert late.text not in [getattr(e, "text", "") for e in await whole_log(store, driven.id)]


async def test_an_append_that_was_sent_and_never_answered_is_in_doubt(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(appender, "PATIENCE_SECONDS", 0.5)
    monkeypatch.setattr(appender, "ATTEMPT_SECONDS", 0.3)
    async with line_to(database) as line, on(line.url("alone")) as store:
        await make_workspace(store)
        driven = await speaking(store, "one")
        delta = piece(driven, await driven.open_id(), "who knows")
        line.hold()
        with pytest.raises(InDoubt):
            await driven.append(delta)
        line.flow()
