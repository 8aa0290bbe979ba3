"""Folders of workspaces: found where they are, shared ones by their mark, and refused with words."""

from pathlib import Path

import pytest

from tenuto.core.error import InvalidInput
from tenuto.core.session import Workspace
from tenuto.core.value import Instant, WorkspaceId
from tenuto.engine.folders import Folders

pytestmark = pytest.mark.anyio

NOW = Instant("2026-01-01T00:00:00.000Z")


def workspace(path: str, home: str | None, name: str = "wsp_a") -> Workspace:
    return Workspace(id=WorkspaceId(name), name="a", path=path, home=home, created_at=NOW)


@pytest.fixture
def roots(tmp_path: Path) -> tuple[Path, Path]:
    """One file system, at two places."""
    (tmp_path / "disk/project/inner").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "mnt").symlink_to(tmp_path / "disk")
    return tmp_path / "disk", tmp_path / "mnt"


async def test_where_there_is_one_server_every_folder_is_on_it(tmp_path: Path) -> None:
    alone = Folders()
    (tmp_path / "link").symlink_to(tmp_path)
    assert await alone.found(str(tmp_path / "link"), None) == (str(tmp_path), None)
    assert await alone.has(workspace("/gone", None))
    assert alone.path(workspace("/srv", None)) == Path("/srv")
    with pytest.raises(InvalidInput, match="only one server"):
        await alone.found(str(tmp_path), "left")
    with pytest.raises(InvalidInput, match="there is no folder"):
        await alone.found(str(tmp_path / "none"), None)


async def test_a_shared_folder_is_kept_relative_and_found_at_every_nodes_own_place(
    roots: tuple[Path, Path],
) -> None:
    left, right = Folders("left", roots[0]), Folders("right", roots[1])
    kept = await left.found("project/inner", None)
    assert kept == ("project/inner", "shared")
    assert await right.found(str(roots[1] / "project/inner"), None) == kept
    made = workspace(*kept)
    assert not await left.has(made)
    await left.mark(made)
    assert await left.has(made)
    assert await right.has(made)
    assert right.path(made).samefile(left.path(made))


async def test_a_folder_without_its_mark_is_not_taken_for_it(roots: tuple[Path, Path]) -> None:
    left = Folders("left", roots[0])
    first, second = workspace("project", "shared"), workspace("project", "shared", "wsp_b")
    await left.mark(first)
    assert not await left.has(second)
    await left.mark(second)
    await left.mark(second)
    assert await left.has(first)
    assert await left.has(second)
    assert (roots[0] / "project/.tenuto-workspace").read_text() == "wsp_a\nwsp_b\n"
    assert not await Folders("bare").has(first)


@pytest.mark.parametrize("given", ["../elsewhere", ".", "none", "/"])
async def test_what_is_not_below_the_shared_root_is_refused(
    roots: tuple[Path, Path], given: str
) -> None:
    with pytest.raises(InvalidInput, match="path: "):
        await Folders("left", roots[0]).found(given, "shared")


async def test_a_folder_can_be_on_one_node_alone(tmp_path: Path) -> None:
    left = Folders("left")
    assert await left.found(str(tmp_path), "left") == (str(tmp_path), "left")
    assert await left.found("/srv/there", "right", nodes={"right"}) == ("/srv/there", "right")
    assert await left.has(workspace(str(tmp_path), "left"))
    assert not await left.has(workspace(str(tmp_path), "right"))
    for given, home, words in (
        ("/srv", "nobody", "there is no node 'nobody'"),
        ("srv", "right", "the full path"),
        (str(tmp_path), None, "say which node"),
        (str(tmp_path), "shared", "without --workspaces"),
        (str(tmp_path / "none"), "left", "there is no folder"),
    ):
        with pytest.raises(InvalidInput, match=words):
            await left.found(given, home, nodes={"right"})
