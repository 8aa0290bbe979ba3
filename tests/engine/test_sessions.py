"""Sessions from outside their runs: made, copied, changed, removed."""

import anyio
import pytest

from tenuto.core.error import NotFound, SessionBusy
from tenuto.core.principal import OWNER
from tenuto.core.session import SessionChanges
from tenuto.core.value import Instant, MessageId, WorkspaceId
from tenuto.engine.engine import Switchboard
from tenuto.engine.sessions import NewSession
from tenuto.ports.query import Once
from tenuto.storage.memory import MemoryStore
from tests.conformance.driven import make_workspace
from tests.engine.harness import EngineHarness

pytestmark = pytest.mark.anyio

AT = Instant("2030-01-01T00:00:00.000Z")


def quiet() -> EngineHarness:
    """An engine that nobody tells of anything: what waits does not begin."""
    return EngineHarness(MemoryStore(Switchboard()), Switchboard())


async def test_a_name_that_the_user_gave_is_the_users() -> None:
    harness = quiet()
    await make_workspace(harness.store)
    named = await harness.engine.sessions.create(NewSession(title="Mine", model="none"), by=OWNER)
    unnamed = await harness.engine.sessions.create(NewSession(), by=OWNER)
    assert (named.title_source, unnamed.title_source) == ("user", "provisional")
    assert await harness.store.session(named.id) == named


async def test_a_session_of_a_workspace_that_is_not_there_is_not_made() -> None:
    harness = quiet()
    with pytest.raises(NotFound):
        await harness.engine.sessions.create(
            NewSession(workspace=WorkspaceId("wsp_none")), by=OWNER
        )


async def test_the_same_key_makes_one_session() -> None:
    harness = quiet()
    await make_workspace(harness.store)
    once = Once(key="k", digest="d", at=AT, by=OWNER.id)
    first = await harness.engine.sessions.create(NewSession(title="One"), once=once, by=OWNER)
    assert (
        await harness.engine.sessions.create(NewSession(title="One"), once=once, by=OWNER) == first
    )


async def test_a_fork_begins_with_copies_that_are_its_own() -> None:
    harness = quiet()
    driven = await harness.session()
    await driven.turn("one", "Hel", "lo")
    await driven.turn("two", "Bye")
    source = (await harness.store.snapshot(driven.id)).messages
    fork = await harness.engine.sessions.fork(driven.id, source[1].id, by=OWNER)
    copies = (await harness.store.snapshot(fork.id)).messages
    assert [m.text() for m in copies] == ["one", "Hello"]
    assert {m.run_id for m in copies} == {None}
    assert not {m.id for m in copies} & {m.id for m in source}
    await harness.engine.sessions.delete(driven.id, by=OWNER)
    assert (await harness.store.snapshot(fork.id)).messages == copies


async def test_a_session_at_work_is_not_copied_and_a_message_must_be_there() -> None:
    harness = quiet()
    driven = await harness.session()
    await driven.turn("one", "Hello")
    with pytest.raises(NotFound):
        await harness.engine.sessions.fork(driven.id, MessageId("msg_none"), by=OWNER)
    await driven.accept("two")
    with pytest.raises(SessionBusy):
        await harness.engine.sessions.fork(driven.id, None, by=OWNER)


async def test_what_is_changed_is_told_and_the_rest_stays() -> None:
    harness = quiet()
    driven = await harness.session()
    changed = await harness.engine.sessions.update(driven.id, SessionChanges(pinned=True), by=OWNER)
    assert (changed.pinned, changed.archived, changed.title) == (True, False, "")
    renamed = await harness.engine.sessions.update(
        driven.id, SessionChanges(title="Mine"), by=OWNER
    )
    assert (renamed.title, renamed.title_source, renamed.pinned) == ("Mine", "user", True)


async def test_a_session_that_is_deleted_at_work_is_gone_when_nothing_of_it_runs() -> None:
    switchboard = Switchboard()
    harness = EngineHarness(MemoryStore(switchboard), switchboard)
    driven = await harness.session()
    await driven.accept("one")
    with anyio.fail_after(10):
        await harness.worker.began.wait()
        await harness.engine.sessions.delete(driven.id, by=OWNER)
    assert not harness.coordinator.works_on(driven.id)
    with pytest.raises(NotFound):
        await harness.store.session(driven.id)
    await harness.coordinator.drain(0)
    await harness.coordinator.stop(1.0)
