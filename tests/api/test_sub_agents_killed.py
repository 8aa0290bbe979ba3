"""What a crash leaves of sub-agents: both interrupted, nothing done again, and a way to go on."""

import json

import pytest

from tests.api.contract.house import Json
from tests.support.log import assert_settled
from tests.support.model_server import Exchange, ModelServer
from tests.support.raw import RawApi
from tests.support.server import TenutoServer

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.one_node("it kills the server; tests/nodes has the scenes of two"),
]

ASK: Json = {"questions": [{"question": "Which colour?"}]}


class Delegating:
    """One session whose run has a sub-agent at work."""

    def __init__(self, raw: RawApi, server: TenutoServer, model: ModelServer) -> None:
        self.raw = raw
        self.server = server
        self.model = model
        self.id = ""
        self.run: Json = {}

    async def begin(self, *tasks: Json) -> list[Exchange]:
        self.id = (await self.raw.post("/api/sessions", {})).body["id"]
        path = f"/api/sessions/{self.id}/runs"
        self.run = (await self.raw.post(path, {"input": "Do it"})).body
        exchange = await self.model.next_request()
        for index, task in enumerate(tasks):
            await exchange.tool_call(index, f"call_{index}", "task")
            await exchange.tool_input(index, json.dumps(task))
        await exchange.finish("tool_calls")
        return [await self.model.next_request() for _ in tasks]

    async def children(self) -> list[Json]:
        found: list[Json] = (await self.raw.get(f"/api/sessions?parent={self.id}"))["sessions"]
        return found

    async def last_run(self, session_id: str) -> Json:
        run: Json = (await self.raw.get(f"/api/sessions/{session_id}/runs"))["runs"][0]
        return run

    async def ended(self, run_id: str) -> Json:
        async with self.raw.sse(f"/api/runs/{run_id}/events") as stream:
            await stream.to_the_end()
        run: Json = await self.raw.get(f"/api/runs/{run_id}")
        return run


@pytest.fixture
def scene(raw: RawApi, server: TenutoServer, model: ModelServer) -> Delegating:
    return Delegating(raw, server, model)


@pytest.mark.guarantee("E7")
@pytest.mark.parametrize("how", ["kill", "stop"])
async def test_both_are_interrupted_and_nothing_is_done_again(scene: Delegating, how: str) -> None:
    (child,) = await scene.begin({"prompt": "Look"})
    await child.text("So far")
    (session,) = await scene.children()
    async with scene.raw.sse(f"/api/sessions/{session['id']}/events") as stream:
        await stream.until("part.delta")
    if how == "kill":
        await scene.server.kill()
    else:
        assert await scene.server.terminate() == 0
    await scene.server.start()
    above = await scene.ended(scene.run["id"])
    below = await scene.ended((await scene.last_run(session["id"]))["id"])
    reason = "server_crashed" if how == "kill" else "server_stopped"
    for run in (above, below):
        assert (run["status"], run["reason"]) == ("interrupted", reason)
    assert len(scene.model.exchanges) == 2
    messages = (await scene.raw.get(f"/api/sessions/{scene.id}/messages"))["messages"]
    (part,) = messages[-1]["parts"]
    assert (part["state"], part["details"]["session_id"]) == ("interrupted", session["id"])
    assert session["id"] in part["output"]
    for one in (scene.id, session["id"]):
        await assert_settled(scene.raw, one)
    await scene.raw.post(f"/api/runs/{scene.run['id']}/continue")
    exchange = await scene.model.next_request()
    told = [m for m in exchange.messages if m["role"] == "tool"]
    assert session["id"] in told[-1]["content"]
    await exchange.tool_call(0, "call_9", "task")
    again = {"prompt": "Go on", "session": session["id"]}
    await exchange.tool_input(0, json.dumps(again))
    await exchange.finish("tool_calls")
    child = await scene.model.next_request()
    assert "So far" in str(child.messages)
    await child.say("Seen.")
    await (await scene.model.next_request()).say("Done.")
    assert (await scene.ended((await scene.last_run(scene.id))["id"]))["status"] == "completed"


@pytest.mark.guarantee("E7")
async def test_what_it_asked_ends_with_it(scene: Delegating) -> None:
    (child,) = await scene.begin({"prompt": "Ask"})
    async with scene.raw.sse(f"/api/sessions/{scene.id}/events") as stream:
        await child.tool_call(0, "call_1", "ask_user")
        await child.tool_input(0, json.dumps(ASK))
        await child.finish("tool_calls")
        question = (await stream.until("question.asked")).data["question"]
    await scene.server.kill()
    await scene.server.start()
    await scene.ended(scene.run["id"])
    (session,) = await scene.children()
    below = await scene.ended((await scene.last_run(session["id"]))["id"])
    assert below["status"] == "interrupted"
    for one in (scene.id, session["id"]):
        (kept,) = (await scene.raw.get(f"/api/sessions/{one}/questions"))["questions"]
        assert (kept["id"], kept["state"]) == (question["id"], "cancelled")
        assert (await scene.raw.get(f"/api/sessions/{one}"))["state"] == "idle"
        await assert_settled(scene.raw, one)
    body = {"answers": [["Blue"]]}
    assert (await scene.raw.post(f"/api/questions/{question['id']}", body)).status == 409


@pytest.mark.parametrize("server_env", [{"TENUTO_LIMITS_ACTIVE_RUNS": "1"}])
async def test_a_server_without_room_lets_its_own_sub_agents_work(scene: Delegating) -> None:
    first, second = await scene.begin({"prompt": "One"}, {"prompt": "Two"})
    await first.say("Yes.")
    await second.say("Yes.")
    await (await scene.model.next_request()).say("Done.")
    assert (await scene.ended(scene.run["id"]))["status"] == "completed"


@pytest.mark.parametrize("server_env", [{"TENUTO_LIMITS_RUN_SECONDS": "2"}])
async def test_the_time_of_a_sub_agent_is_its_own(scene: Delegating) -> None:
    (child,) = await scene.begin({"prompt": "Take long"})
    # The one below reaches its own limit, the one above goes on.
    await child.closed()
    last = await scene.model.next_request()
    assert "time limit" in str(last.messages[-1]["content"])
    await last.say("A pity.")
    ended = await scene.ended(scene.run["id"])
    assert (ended["status"], ended["reason"]) == ("completed", "end_turn")
