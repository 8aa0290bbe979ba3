"""A run that only waits for a person outlives the server, and goes on when it is answered."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.api.contract.house import Json
from tests.support.log import assert_settled
from tests.support.model_server import Exchange, ModelServer
from tests.support.raw import RawApi
from tests.support.server import TenutoServer
from tests.support.watch import until

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.guarantee("E2"),
    pytest.mark.one_node("it kills the server; tests/nodes has the scenes of two"),
]

COUNT = "echo x >> count; wc -l < count"


class WaitingScene:
    """One session whose run asks for permission."""

    def __init__(self, raw: RawApi, server: TenutoServer, model: ModelServer) -> None:
        self.raw = raw
        self.server = server
        self.model = model
        self.id = ""
        self.run: Json = {}

    async def prompt(self, *calls: tuple[str, str, str], **fields: Any) -> Exchange:
        """A prompt, answered with these calls (id, tool, arguments)."""
        if not self.id:
            self.id = (await self.raw.post("/api/sessions", {})).body["id"]
        body = {"input": "Count", **fields}
        self.run = (await self.raw.post(f"/api/sessions/{self.id}/runs", body)).body
        exchange = await self.model.next_request()
        for index, (call_id, tool, arguments) in enumerate(calls):
            await exchange.tool_call(index, call_id, tool)
            await exchange.tool_input(index, arguments)
        await exchange.usage(70, 7)
        await exchange.finish("tool_calls")
        return exchange

    async def approval(self) -> Json:
        """What is asked now."""
        async with self.raw.sse(f"/api/sessions/{self.id}/events", after="now") as stream:
            frame = await stream.next()
            if not frame.data["approvals"]:
                frame = await stream.until("approval.requested")
                asked: Json = frame.data["approval"]
                return asked
            (found,) = frame.data["approvals"]
            pending: Json = found
            return pending

    async def answer(self, approval: Json, decision: str = "allow_once") -> int:
        path = f"/api/approvals/{approval['id']}"
        return (await self.raw.post(path, {"decision": decision})).status

    async def restarted(self) -> None:
        await self.server.kill()
        await self.server.start()

    async def state(self) -> tuple[str, str]:
        session = await self.raw.get(f"/api/sessions/{self.id}")
        run = await self.raw.get(f"/api/runs/{self.run['id']}")
        return session["state"], run["status"]

    async def ended(self) -> Json:
        async with self.raw.sse(f"/api/runs/{self.run['id']}/events") as stream:
            await stream.to_the_end()
        run: Json = await self.raw.get(f"/api/runs/{self.run['id']}")
        return run

    async def calls(self) -> list[tuple[str, str]]:
        messages = (await self.raw.get(f"/api/sessions/{self.id}/messages"))["messages"]
        parts = [part for message in messages for part in message["parts"]]
        return [(p["call_id"], p["state"]) for p in parts if p["type"] == "tool"]

    async def counted(self) -> int:
        """How often the command was run."""
        folder = Path((await self.raw.get("/api/workspaces/default"))["path"])
        file = anyio.Path(folder / "count")
        return len((await file.read_text()).splitlines()) if await file.exists() else 0


@pytest.fixture
def asking(raw: RawApi, server: TenutoServer, model: ModelServer) -> WaitingScene:
    return WaitingScene(raw, server, model)


def shell(call_id: str = "call_1") -> tuple[str, str, str]:
    return call_id, "shell", f'{{"command": "{COUNT}"}}'


@pytest.mark.parametrize("restarts", [0, 1, 3])
async def test_it_goes_on_when_it_is_answered_and_its_tool_runs_once(
    asking: WaitingScene, model: ModelServer, raw: RawApi, restarts: int
) -> None:
    await asking.prompt(shell())
    approval = await asking.approval()
    for _ in range(restarts):
        await asking.restarted()
        assert await asking.state() == ("waiting", "running")
        assert await asking.approval() == approval
    assert (await asking.answer(approval), await asking.answer(approval)) == (200, 409)
    exchange = await model.next_request()
    assert "1" in str(exchange.messages[-1])
    await exchange.text("Counted.")
    await exchange.usage(100, 3)
    await exchange.finish()
    ended = await asking.ended()
    assert (ended["status"], ended["reason"]) == ("completed", "end_turn")
    # Of the first request too, which another process had made.
    assert (ended["usage"]["input_tokens"], ended["usage"]["output_tokens"]) == (170, 10)
    assert ended["usage"]["exact"] is True
    assert (await asking.calls(), await asking.counted()) == ([("call_1", "done")], 1)
    assert len(model.exchanges) == 2
    messages = (await raw.get(f"/api/sessions/{asking.id}/messages"))["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"]
    await assert_settled(raw, asking.id)


async def test_what_came_before_stays_and_what_had_not_begun_is_done(
    asking: WaitingScene, model: ModelServer, raw: RawApi
) -> None:
    look = ("call_0", "list_files", "{}")
    await asking.prompt(look, shell("call_1"), shell("call_2"))
    first = await asking.approval()
    await asking.restarted()
    await asking.answer(first, "deny")
    async with raw.sse(f"/api/sessions/{asking.id}/events") as stream:
        while (await stream.until("approval.requested")).data["approval"]["id"] == first["id"]:
            pass
    await asking.restarted()
    await asking.answer(await asking.approval())
    await (await model.next_request()).say("Done.")
    assert (await asking.ended())["status"] == "completed"
    assert await asking.calls() == [("call_0", "done"), ("call_1", "denied"), ("call_2", "done")]
    assert await asking.counted() == 1
    await assert_settled(raw, asking.id)


@pytest.mark.parametrize("server_env", [{"TENUTO_DRAIN": "600"}])
async def test_it_holds_up_no_drain_and_goes_on_after_it(
    asking: WaitingScene, model: ModelServer, raw: RawApi, server: TenutoServer
) -> None:
    await asking.prompt(shell())
    approval = await asking.approval()
    assert await server.terminate() == 0
    await server.start()
    assert await asking.state() == ("waiting", "running")
    await asking.answer(approval)
    await (await model.next_request()).say("Done.")
    assert ((await asking.ended())["status"], await asking.counted()) == ("completed", 1)
    await assert_settled(raw, asking.id)


@pytest.mark.parametrize("by", ["session", "run", "interrupt"])
async def test_a_cancel_of_one_that_nobody_works_on_settles_it(
    asking: WaitingScene, model: ModelServer, raw: RawApi, by: str
) -> None:
    await asking.prompt(shell())
    approval = await asking.approval()
    await asking.restarted()
    run = asking.run
    if by == "session":
        answer = await raw.post(f"/api/sessions/{asking.id}/cancel")
        assert (answer.body["cancelled"], answer.body["settled"]) == ([run["id"]], True)
    elif by == "run":
        answer = await raw.post(f"/api/runs/{run['id']}/cancel")
        assert answer.body["status"] == "cancelled"
    else:
        body = {"input": "Instead", "when_busy": "interrupt", "mode": "chat"}
        await raw.post(f"/api/sessions/{asking.id}/runs", body)
        exchange = await model.next_request()
        assert exchange.prompt == "Instead"
        await exchange.say("Yes.")
        runs = (await raw.get(f"/api/sessions/{asking.id}/runs"))["runs"]
        asking.run = runs[0]
        await asking.ended()
    ended = await raw.get(f"/api/runs/{run['id']}")
    reason = "replaced" if by == "interrupt" else "user"
    assert (ended["status"], ended["reason"]) == ("cancelled", reason)
    assert ended["usage"]["input_tokens"] == 70
    assert await asking.answer(approval) == 409
    assert (await asking.calls(), await asking.counted()) == ([("call_1", "cancelled")], 0)
    await assert_settled(raw, asking.id)


async def test_it_can_be_deleted_and_what_it_had_used_is_in_the_books(
    asking: WaitingScene, raw: RawApi
) -> None:
    await asking.prompt(shell())
    await asking.approval()
    await asking.restarted()
    assert (await raw.call("DELETE", f"/api/sessions/{asking.id}")).status == 204
    (used,) = (await raw.get("/api/usage"))["days"]
    assert used["input_tokens"] == 70


async def test_one_whose_connection_died_with_the_server_ends(
    asking: WaitingScene, model: ModelServer, raw: RawApi
) -> None:
    asking.id = (await raw.post("/api/sessions", {})).body["id"]
    path = f"/api/sessions/{asking.id}/runs"
    body = {"input": "Count", "on_disconnect": "cancel"}
    async with raw.sse(path, method="POST", body=body) as stream:
        exchange = await model.next_request()
        await exchange.tool_call(0, "call_1", "shell")
        await exchange.tool_input(0, f'{{"command": "{COUNT}"}}')
        await exchange.finish("tool_calls")
        asking.run = (await stream.until("approval.requested")).data
        asking.run = {"id": asking.run["run_id"]}
        await asking.server.kill()
    await asking.server.start()
    assert (await asking.ended())["status"] in ("interrupted", "cancelled")
    await assert_settled(raw, asking.id)


async def test_a_call_that_had_begun_is_not_done_again(asking: WaitingScene, raw: RawApi) -> None:
    await asking.prompt(("call_1", "shell", '{"command": "echo x >> count; sleep 97"}'))
    await asking.answer(await asking.approval())

    async def begun() -> bool:
        return await asking.counted() > 0

    await until(begun)
    await asking.restarted()
    assert (await asking.ended())["status"] == "interrupted"
    assert (await asking.calls(), await asking.counted()) == ([("call_1", "interrupted")], 1)
    await assert_settled(raw, asking.id)
