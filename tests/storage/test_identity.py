"""A database that is taken away, replaced or cut short under the server is noticed."""

import os
from pathlib import Path

import pytest

from tenuto.core.error import StorageTrouble
from tenuto.core.value import NodeId
from tests.conformance.driven import DrivenSession, card, make_workspace
from tests.storage.conftest import opened

pytestmark = pytest.mark.anyio
NODE = NodeId("node_a")


def take_away(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))


def replace(path: Path) -> None:
    take_away(path)
    path.write_bytes(path.with_name("elsewhere").read_bytes())


def cut_short(path: Path) -> None:
    os.truncate(path, 512)


def spoil_the_end(path: Path) -> None:
    """The tables are at the beginning, and what was said last at the end."""
    content = path.read_bytes()
    half = len(content) // 2 // 4096 * 4096
    path.write_bytes(content[:half] + b"\xa5" * (len(content) - half))


@pytest.mark.parametrize("harm", [take_away, replace, cut_short])
async def test_nothing_is_accepted_into_a_file_that_is_not_there_any_more(
    path: Path, harm: object
) -> None:
    async with opened(path) as store:
        await make_workspace(store)
        driven = await DrivenSession.begin(store)
        await store.check()
        harm(path)  # type: ignore[operator]
        with pytest.raises(StorageTrouble, match="the database file"):
            await store.check()
        await store.heartbeat(card(NODE), seconds=30.0)
        with pytest.raises(StorageTrouble, match="the database file"):
            await driven.accept("hello")


async def test_a_file_that_is_put_back_is_used_again(path: Path) -> None:
    async with opened(path) as store:
        await make_workspace(store)
        driven = await DrivenSession.begin(store)
        take_away(path)
        await store.heartbeat(card(NODE), seconds=30.0)
        path.with_name("elsewhere").rename(path)
        await store.check()
        await driven.accept("hello")
    async with opened(path) as store:
        assert [run.input for run in (await store.snapshot(driven.id)).runs] == ["hello"]


async def test_damage_that_a_read_found_is_said_for_good(path: Path) -> None:
    async with opened(path) as store:
        await make_workspace(store)
        driven = await DrivenSession.begin(store)
        for n in range(40):
            await driven.accept(f"{n} {'x' * 2000}")
    spoil_the_end(path)
    async with opened(path) as store:
        with pytest.raises(StorageTrouble, match="damaged"):
            await store.snapshot(driven.id)
        with pytest.raises(StorageTrouble, match="damaged"):
            await store.check()
