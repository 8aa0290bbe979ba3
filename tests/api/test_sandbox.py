"""The sandbox of a real server, and the rules of its file, as clients see them."""

from pathlib import Path

import pytest

from tenuto.agent.tools.processes import landlock
from tenuto.client import SessionHandle
from tests.support.model_server import ModelServer
from tests.support.raw import RawApi
from tests.support.server import TenutoServer
from tests.support.talk import call_tool

pytestmark = pytest.mark.anyio

ALLOWED = {"TENUTO_PERMISSIONS": "allow"}


async def shell(model: ModelServer, session: SessionHandle, command: str) -> str:
    """What the command says, as the model is told it."""
    run = await session.prompt("Run it")
    await call_tool(await model.next_request(), "shell", command=command)
    after = await model.next_request()
    await after.say("Done")
    assert (await run.wait()).status == "completed"
    return str(after.messages[-1]["content"])


@pytest.mark.skipif(landlock.version() < landlock.LEAST_ABI, reason="this kernel has none")
@pytest.mark.parametrize("server_env", [ALLOWED])
async def test_by_default_a_command_stays_in_its_workspace_and_out_of_the_data_folder(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle, tmp_path: Path
) -> None:
    said = await shell(
        model,
        session,
        f"echo in > here; cat here; cat {server.data}/tenuto.sqlite3; echo out > {tmp_path}/there",
    )
    assert said.startswith("in\n")
    assert said.count("Permission denied") == 2
    assert not (tmp_path / "there").exists()
    about = (await raw.get("/api/about"))["sandbox"]
    assert (about["wanted"], about["kind"]) == ("auto", "landlock")
    assert about["abi"] >= 3
    assert (await raw.get("/api/settings"))["sandbox"] == about


@pytest.mark.parametrize("server_env", [{**ALLOWED, "TENUTO_TOOLS_SANDBOX": "off"}])
async def test_with_off_it_does_what_its_user_can(
    model: ModelServer, raw: RawApi, session: SessionHandle, tmp_path: Path
) -> None:
    await shell(model, session, f"echo out > {tmp_path}/there")
    assert (tmp_path / "there").read_text() == "out\n"
    assert (await raw.get("/api/about"))["sandbox"] == {
        "wanted": "off",
        "kind": "none",
        "abi": (await raw.get("/api/about"))["sandbox"]["abi"],
        "about": "Commands can do all that the server's user can.",
    }


RULES = """
[[rules]]
tool = "shell"
pattern = "echo *"
decision = "allow"

[[rules]]
tool = "shell"
pattern = "rm *"
decision = "deny"

[[rules]]
tool = "write_file"
decision = "deny"
"""


async def test_the_rules_of_the_file_are_the_servers(model: ModelServer, tmp_path: Path) -> None:
    folder = tmp_path / "ruled"
    folder.mkdir()
    (folder / "tenuto.toml").write_text(RULES)
    async with TenutoServer(folder, model_url=model.url) as server, server.client() as tenuto:
        session = await tenuto.create_session()
        assert await shell(model, session, "echo yes") == "yes"
        assert "A rule does not allow this" in await shell(model, session, "echo a; rm -rf b")
        run = await session.prompt("What can you do?")
        offered = (await model.next_request()).body["tools"]
        names = [tool["function"]["name"] for tool in offered]
        assert "shell" in names
        assert "write_file" not in names
        await run.cancel()
