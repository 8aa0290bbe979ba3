"""Who may know whom: the contracts of pyproject.toml, and which room holds which technology."""

import subprocess
import sys
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]

ROOMS = {
    "cryptography": ("tenuto.storage.cipher",),
    "apsw": ("tenuto.storage.sqlite",),
    "asyncpg": ("tenuto.storage.postgres",),
    "starlette": ("tenuto.api",),
    "aiohttp": ("tenuto.agent.tools", "tenuto.client"),
    "httptools": ("tenuto.agent.providers",),
    "xllamacpp": ("tenuto.agent",),
    "pypdf": ("tenuto.agent.tools.processes.programs",),
    "mcp": ("tenuto.agent.mcp.host",),
    "mcp_types": ("tenuto.agent.mcp.host",),
    "pydantic": ("tenuto.agent.mcp.host",),
    "click": ("tenuto.banner", "tenuto.cli", "tenuto.wiring"),
}
"""A technology, and the only rooms that may use it."""

NOT_IN_CORE = {
    "anyio",
    "asyncio",
    "concurrent",
    "datetime",
    "io",
    "logging",
    "os",
    "pathlib",
    "random",
    "secrets",
    "socket",
    "subprocess",
    "threading",
    "time",
    "uuid",
}
"""Parts of the standard library that do I/O, wait, tell the time or throw dice."""


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("tenuto", include_external_packages=True, cache_dir=None)


def test_each_layer_knows_only_those_below_it() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"]
    said = subprocess.run(
        [*command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert said.returncode == 0, said.stdout + said.stderr
    assert "2 kept, 0 broken" in said.stdout


@pytest.mark.parametrize("technology", sorted(ROOMS))
def test_each_technology_stays_in_its_rooms(graph: grimp.ImportGraph, technology: str) -> None:
    users = graph.find_modules_that_directly_import(technology)
    assert not [user for user in users if not _is_in(user, ROOMS[technology])]


def test_the_core_knows_nothing_but_values(graph: grimp.ImportGraph) -> None:
    known = {
        name
        for module in graph.modules
        if _is_in(module, ("tenuto.core",))
        for name in graph.find_modules_directly_imported_by(module)
        if not name.startswith("tenuto.")
    }
    assert "msgspec" in known
    assert known - sys.stdlib_module_names == {"msgspec"}
    assert not known & NOT_IN_CORE


def test_the_oracle_knows_nothing_of_what_it_judges() -> None:
    tests = grimp.build_graph("tests", include_external_packages=True, cache_dir=None)
    oracle = tests.find_descendants("tests.oracle")
    known = {name for module in oracle for name in tests.find_modules_directly_imported_by(module)}
    ours = {name for name in known if name.split(".")[0] in ("tests", "tenuto")}
    assert "tests.oracle.rule" in ours
    assert not [name for name in ours if not _is_in(name, ("tests.oracle",))]


def _is_in(module: str, rooms: tuple[str, ...]) -> bool:
    return any(module == room or module.startswith(f"{room}.") for room in rooms)
