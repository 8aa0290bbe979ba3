"""Agent runs start where their folder is, and say so while nobody has it."""

from pathlib import Path

import anyio
import pytest
from msgspec.structs import replace

from tenuto.clock import RandomIds, SystemClock
from tenuto.core.run import Mode, Run
from tenuto.core.session import DEFAULT_WORKSPACE
from tenuto.core.value import NodeId, SessionId
from tenuto.engine.folders import Folders
from tenuto.engine.homes import Homes
from tenuto.engine.node import Node
from tenuto.ports.query import RunQuery
from tenuto.storage.memory import MemoryStore
from tests.conformance.driven import DrivenSession, card, make_workspace
from tests.conformance.listener import Listener

pytestmark = pytest.mark.anyio

LEFT, RIGHT = NodeId("node_left"), NodeId("node_right")


class TwoNodes:
    """Two nodes on one store; nobody works, each only says what it may."""

    def __init__(self, root: Path | None = None) -> None:
        self.store = MemoryStore(Listener())
        MemoryStore(Listener(), beside=self.store)
        self.left, self.right = self._homes("left", LEFT, root), self._homes("right", RIGHT, None)

    def _homes(self, name: str, node: NodeId, root: Path | None) -> Homes:
        folders = Folders(name, root)
        made = Node(id=node, name=name, clock=SystemClock(), ids=RandomIds(), folders=folders)
        return Homes(self.store, made)

    async def begin(self, home: str, mode: Mode = Mode.AGENT) -> DrivenSession:
        await make_workspace(self.store)
        here = await self.store.workspace(DEFAULT_WORKSPACE)
        await self.store.put_workspace(replace(here, home=home, path="project"))
        driven = await DrivenSession.begin(self.store)
        await driven.accept("look", mode=mode)
        return driven


async def the_run(driven: DrivenSession) -> Run:
    (run,) = (await driven.store.runs(RunQuery(session_id=driven.id, limit=9))).runs
    return run


async def may(homes: Homes, driven: DrivenSession) -> bool | None:
    return homes.may_start(await the_run(driven), DEFAULT_WORKSPACE)


async def said(driven: DrivenSession) -> str | None:
    run = await the_run(driven)
    return run.waiting.reason if run.waiting else None


async def test_a_workspace_that_nobody_has_looked_at_is_looked_for_first() -> None:
    nodes = TwoNodes()
    driven = await nodes.begin("left")
    assert await may(nodes.left, driven) is None
    await nodes.left.look_for(DEFAULT_WORKSPACE)
    assert await may(nodes.left, driven) is True
    await nodes.right.look_for(DEFAULT_WORKSPACE)
    assert await may(nodes.right, driven) is False


async def test_a_chat_asks_for_no_folder() -> None:
    nodes = TwoNodes()
    driven = await nodes.begin("left", Mode.CHAT)
    assert await may(nodes.right, driven) is True


async def test_while_its_node_is_away_a_run_says_so_once_and_can_be_cancelled() -> None:
    nodes = TwoNodes()
    driven = await nodes.begin("left")
    await nodes.store.heartbeat(card(LEFT, name="left"), seconds=30.0)
    await nodes.right.round()
    assert await said(driven) is None
    await nodes.store.farewell(LEFT)
    await nodes.right.round()
    assert await said(driven) == "node_away"
    head = (await nodes.store.session(driven.id)).head
    await nodes.right.round()
    assert (await nodes.store.session(driven.id)).head == head
    await driven.cancel()
    assert (await nodes.store.session(driven.id)).queued == 0


async def test_a_node_that_drains_is_away_and_one_that_is_back_is_not() -> None:
    nodes = TwoNodes()
    driven = await nodes.begin("left")
    await nodes.store.heartbeat(card(LEFT, name="left", draining=True), seconds=30.0)
    await nodes.right.round()
    assert await said(driven) == "node_away"
    await nodes.store.heartbeat(card(NodeId("node_new"), name="left"), seconds=30.0)
    await nodes.right.round()
    assert await driven.start() is not None
    assert (await the_run(driven)).status == "running"
    assert await said(driven) is None


async def test_only_the_leader_says_it() -> None:
    nodes = TwoNodes()
    driven = await nodes.begin("nobody")
    assert await nodes.store.lead("homes", LEFT, seconds=30.0)
    await nodes.right.round()
    assert await said(driven) is None
    await nodes.left.round()
    assert await said(driven) == "node_away"


async def test_a_shared_folder_is_seen_by_its_mark(tmp_path: Path) -> None:
    nodes = TwoNodes(tmp_path)
    driven = await nodes.begin("shared")
    await nodes.left.look_for(DEFAULT_WORKSPACE)
    assert await may(nodes.left, driven) is False
    await anyio.Path(tmp_path / "project").mkdir()
    await anyio.Path(tmp_path / "project/.tenuto-workspace").write_text("default\n")
    await nodes.left.refresh()
    assert await may(nodes.left, driven) is True


async def test_what_another_node_accepted_for_a_folder_of_ours_is_ours_to_begin() -> None:
    nodes = TwoNodes()
    driven = await nodes.begin("left")
    told: dict[str, list[str]] = {"left": [], "right": []}
    for name, homes in (("left", nodes.left), ("right", nodes.right)):
        homes.on_mine.append(told[name].append)
        await homes.refresh()
        homes.rang_changed((driven.id, SessionId("ses_gone")))
        await homes.begin_rung()
        await homes.begin_rung()
    assert told == {"left": [driven.id], "right": []}
    await driven.cancel()
    nodes.left.rang_changed((driven.id,))
    await nodes.left.begin_rung()
    assert told["left"] == [driven.id]
