"""What is done to a session and its sub-agents at once."""

import pytest
from msgspec.structs import replace

from tenuto.core import cancelling
from tenuto.core.cancelling import Covered
from tenuto.core.desk import Change, Desk
from tenuto.core.error import NotFound
from tenuto.core.run import Reason
from tenuto.core.value import RunId, SessionId
from tenuto.engine import families
from tenuto.engine.engine import Switchboard
from tenuto.ports.store import Store
from tenuto.storage.memory import MemoryStore
from tests.conformance.driven import DrivenSession, make_workspace
from tests.conformance.test_families import at_work, delegated

pytestmark = pytest.mark.anyio


@pytest.fixture
async def store() -> Store:
    made = MemoryStore(Switchboard())
    await make_workspace(made)
    return made


async def test_a_cancel_covers_sub_agents_in_its_own_change(store: Store) -> None:
    parent, part = await at_work(store)
    run, _ = await delegated(parent, part, "child")
    child = DrivenSession(store, SessionId("ses_child"))
    await child.start()
    moment = parent.moment()

    def cancel(desk: Desk) -> Change[Covered]:
        return cancelling.cancel_session(desk, Reason.USER, moment)

    covered, _ = await families.cover(store, parent.id, cancel, Reason.USER, moment)
    assert covered.active == parent.fence.run_id
    below = await store.control(child.id)
    assert below.cancels.reason_for(await store.run(run.id)) is Reason.USER


async def test_a_session_that_is_gone_cannot_be_covered(store: Store) -> None:
    parent, _ = await at_work(store)
    await parent.delete()
    moment = parent.moment()
    with pytest.raises(NotFound):
        await families.cover(
            store,
            parent.id,
            lambda desk: cancelling.cancel_session(desk, Reason.USER, moment),
            Reason.USER,
            moment,
        )


async def test_a_sub_agent_is_for_nobody_once_its_run_has_ended(store: Store) -> None:
    parent, part = await at_work(store)
    run, _ = await delegated(parent, part, "child")
    assert not await families.is_for_nobody(store, run)
    assert not await families.is_for_nobody(store, await store.run(parent.fence.run_id))
    await parent.settle()
    assert await families.is_for_nobody(store, run)
    assert await families.is_for_nobody(store, replace(run, parent_run=RunId("run_gone")))
