"""Workspaces, their logs, and files."""

import anyio
import pytest
from msgspec.structs import replace

from tenuto.core.error import NotFound, SessionBusy
from tenuto.core.event import SessionCreated
from tenuto.core.file import FileInfo
from tenuto.core.permission import Permission
from tenuto.core.rule import Rule
from tenuto.core.session import DEFAULT_WORKSPACE
from tenuto.core.value import FileId, StreamId, WorkspaceId
from tenuto.ports.store import Store
from tests.conformance.driven import START, DrivenSession, make_workspace, whole_log

pytestmark = pytest.mark.anyio


async def test_a_workspaces_log_tells_of_its_sessions_and_runs_and_of_no_others(
    store: Store,
) -> None:
    await make_workspace(store, "wsp_b")
    here = await DrivenSession.begin(store, "here")
    await DrivenSession.begin(store, "there", workspace_id=WorkspaceId("wsp_b"))
    await here.turn("hello", "a", "b")
    log = await whole_log(store, "default")
    assert [type(event).__struct_config__.tag for event in log] == [
        "session.created",
        "run.accepted",
        "session.updated",
        "run.started",
        "run.finished",
    ]
    assert {event.session_id for event in log} == {here.id}
    page = await store.read(StreamId("default"), after=0, limit=1000)
    assert [stored.seq for stored in page.events] == [1, 2, 3, 4, 5]
    assert page.head == 5
    (there,) = await whole_log(store, "wsp_b")
    assert isinstance(there, SessionCreated)
    assert there.session.id == "ses_there"


async def test_a_sessions_own_log_begins_after_its_creation(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    page = await store.read(StreamId(driven.id), after=0, limit=10)
    assert (page.events, page.head) == ((), 0)


async def test_a_new_workspace_has_an_empty_log(store: Store) -> None:
    await make_workspace(store, "wsp_b")
    page = await store.read(StreamId("wsp_b"), after=0, limit=10)
    assert (page.events, page.head) == ((), 0)


async def test_changing_a_workspace_keeps_its_log(store: Store) -> None:
    await DrivenSession.begin(store)
    workspace = await store.workspace(WorkspaceId("default"))
    await store.put_workspace(replace(workspace, name="renamed"))
    assert [w.name for w in await store.workspaces()] == ["renamed"]
    assert len(await whole_log(store, "default")) == 1


async def test_changes_made_at_once_all_hold(store: Store) -> None:
    await make_workspace(store, "wsp_b")
    rules = [Rule(tool=f"tool_{n}", decision=Permission.ALLOW) for n in range(8)]

    async def add(rule: Rule) -> None:
        await store.change_workspace(
            WorkspaceId("wsp_b"), lambda one: replace(one, rules=(*one.rules, rule))
        )

    async with anyio.create_task_group() as tasks:
        for rule in rules:
            tasks.start_soon(add, rule)
    changed = await store.workspace(WorkspaceId("wsp_b"))
    assert sorted(rule.tool for rule in changed.rules) == [rule.tool for rule in rules]


async def test_a_workspace_that_is_gone_does_not_come_back_by_a_change(store: Store) -> None:
    await make_workspace(store, "wsp_b")
    await store.delete_workspace(WorkspaceId("wsp_b"))
    with pytest.raises(NotFound):
        await store.change_workspace(WorkspaceId("wsp_b"), lambda one: one)
    assert [one.id for one in await store.workspaces()] == ["default"]


async def test_only_an_empty_workspace_can_be_removed(store: Store) -> None:
    await make_workspace(store, "wsp_b")
    driven = await DrivenSession.begin(store, workspace_id=WorkspaceId("wsp_b"))
    with pytest.raises(SessionBusy):
        await store.delete_workspace(WorkspaceId("wsp_b"))
    await driven.delete()
    await store.delete_workspace(WorkspaceId("wsp_b"))
    with pytest.raises(NotFound):
        await store.workspace(WorkspaceId("wsp_b"))
    with pytest.raises(NotFound):
        await store.read(StreamId("wsp_b"), after=0, limit=1)
    with pytest.raises(NotFound):
        await store.delete_workspace(WorkspaceId("wsp_b"))


@pytest.mark.guarantee("H5")
async def test_a_file_comes_back_as_it_was_given(store: Store) -> None:
    content = bytes(range(256)) * 1000
    info = FileInfo(
        id=FileId("fil_a"), name="a.bin", media_type="b/x", size=len(content), created_at=START
    )
    await store.put_file(info, content)
    assert await store.file(info.id) == info
    assert await store.file_content(info.id) == content
    for missing in (store.file(FileId("fil_b")), store.file_content(FileId("fil_b"))):
        with pytest.raises(NotFound):
            await missing


async def test_a_workspaces_snapshot_has_all_that_runs_or_waits_in_it_and_nothing_of_others(
    store: Store,
) -> None:
    other = await make_workspace(store, "wsp_other")
    here = [await DrivenSession.begin(store, f"here{n}") for n in range(3)]
    there = await DrivenSession.begin(store, "there", workspace_id=other.id)
    for driven in (*here, there):
        await driven.accept("one")
        await driven.start()
        await driven.accept("two")
    await here[0].settle()
    found = await store.workspace_snapshot(DEFAULT_WORKSPACE, most_sessions=2, most_runs=100)
    assert found.workspace.id == DEFAULT_WORKSPACE
    assert len(found.sessions) == 2
    assert found.next is not None
    told = [(run.session_id, run.status, run.input) for run in found.runs]
    assert {session_id for session_id, _, _ in told} == {driven.id for driven in here}
    assert [status for _, status, _ in told] == ["running"] * 2 + ["queued"] * 3
    log = await store.read(StreamId(DEFAULT_WORKSPACE), after=0, limit=1000)
    assert found.head == log.head
    few = await store.workspace_snapshot(DEFAULT_WORKSPACE, most_sessions=9, most_runs=3)
    assert [run.status for run in few.runs] == ["running", "running", "queued"]
    with pytest.raises(NotFound):
        await store.workspace_snapshot(WorkspaceId("wsp_no"), most_sessions=1, most_runs=1)
