"""A run that only waits for an answer outlives the server, and goes on when it is answered."""

import json

import pytest

from tests.api.contract.house import Json
from tests.support.log import assert_settled
from tests.support.model_server import Exchange, ModelServer
from tests.support.raw import RawApi
from tests.support.server import TenutoServer

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.guarantee("E2"),
    pytest.mark.one_node("it kills the server; tests/nodes has the scenes of two"),
]

COLOUR: Json = {"question": "Which colour?", "options": [{"label": "Red"}, {"label": "Blue"}]}
SHELL: Json = {"command": "echo x >> count"}


class QuestionScene:
    """One session whose run asks its person in words."""

    def __init__(self, raw: RawApi, server: TenutoServer, model: ModelServer) -> None:
        self.raw = raw
        self.server = server
        self.model = model
        self.id = ""
        self.run: Json = {}

    async def prompt(self, *calls: tuple[str, Json]) -> None:
        """A prompt, answered with these calls (tool, arguments)."""
        self.id = (await self.raw.post("/api/sessions", {})).body["id"]
        body = {"input": "Paint it"}
        self.run = (await self.raw.post(f"/api/sessions/{self.id}/runs", body)).body
        exchange = await self.model.next_request()
        for index, (tool, arguments) in enumerate(calls):
            await exchange.tool_call(index, f"call_{index}", tool)
            await exchange.tool_input(index, json.dumps(arguments))
        await exchange.usage(70, 7)
        await exchange.finish("tool_calls")

    async def question(self, number: int = 0) -> Json:
        """The n-th that it asks."""
        async with self.raw.sse(f"/api/sessions/{self.id}/events") as stream:
            for _ in range(number + 1):
                frame = await stream.until("question.asked")
        found = (await self.raw.get(f"/api/sessions/{self.id}/questions"))["questions"]
        (mine,) = [one for one in found if one["id"] == frame.data["question"]["id"]]
        question: Json = mine
        return question

    async def answer(self, question: Json, *answers: str) -> int:
        path = f"/api/questions/{question['id']}"
        return (await self.raw.post(path, {"answers": [list(answers)]})).status

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
        return [(part["name"], part["state"]) for part in parts if part["type"] == "tool"]

    async def next(self) -> Exchange:
        return await self.model.next_request()


@pytest.fixture
def asked(raw: RawApi, server: TenutoServer, model: ModelServer) -> QuestionScene:
    return QuestionScene(raw, server, model)


@pytest.mark.parametrize("restarts", [0, 1, 3])
async def test_it_goes_on_when_it_is_answered_once(asked: QuestionScene, restarts: int) -> None:
    await asked.prompt(("ask_user", {"questions": [COLOUR]}))
    question = await asked.question()
    for _ in range(restarts):
        await asked.restarted()
        assert await asked.state() == ("waiting", "running")
        assert await asked.question() == question
    assert (await asked.answer(question, "Blue"), await asked.answer(question, "Red")) == (200, 409)
    exchange = await asked.next()
    assert exchange.messages[-1]["content"] == "The user answered: Blue"
    await exchange.text("Blue it is.")
    await exchange.usage(100, 3)
    await exchange.finish()
    ended = await asked.ended()
    assert (ended["status"], ended["reason"]) == ("completed", "end_turn")
    # Of the first request too, which another process had made.
    assert (ended["usage"]["input_tokens"], ended["usage"]["output_tokens"]) == (170, 10)
    assert await asked.calls() == [("ask_user", "done")]
    assert len(asked.model.exchanges) == 2
    await assert_settled(asked.raw, asked.id)


async def test_what_was_asked_together_is_answered_before_and_after_a_restart(
    asked: QuestionScene,
) -> None:
    await asked.prompt(*[("ask_user", {"questions": [COLOUR]})] * 2)
    first, second = await asked.question(0), await asked.question(1)
    assert await asked.answer(second, "Red") == 200
    await asked.restarted()
    assert await asked.state() == ("waiting", "running")
    await asked.restarted()
    assert (await asked.question(0))["state"] == "pending"
    assert await asked.answer(first, "Blue") == 200
    exchange = await asked.next()
    said = [m["content"] for m in exchange.messages if m["role"] == "tool"]
    assert said == ["The user answered: Blue", "The user answered: Red"]
    await exchange.say("Done.")
    assert (await asked.ended())["status"] == "completed"
    await assert_settled(asked.raw, asked.id)


async def test_permission_and_an_answer_are_waited_for_alike(asked: QuestionScene) -> None:
    await asked.prompt(("ask_user", {"questions": [COLOUR]}), ("shell", SHELL))
    await asked.answer(await asked.question(), "Red")
    async with asked.raw.sse(f"/api/sessions/{asked.id}/events") as stream:
        approval = (await stream.until("approval.requested")).data["approval"]
    await asked.restarted()
    assert await asked.state() == ("waiting", "running")
    await asked.raw.post(f"/api/approvals/{approval['id']}", {"decision": "deny"})
    await (await asked.next()).say("Done.")
    assert (await asked.ended())["status"] == "completed"
    assert await asked.calls() == [("ask_user", "done"), ("shell", "denied")]
    await assert_settled(asked.raw, asked.id)


@pytest.mark.parametrize("server_env", [{"TENUTO_DRAIN": "600"}])
async def test_it_holds_up_no_drain_and_goes_on_after_it(asked: QuestionScene) -> None:
    await asked.prompt(("ask_user", {"questions": [COLOUR]}))
    question = await asked.question()
    assert await asked.server.terminate() == 0
    await asked.server.start()
    assert await asked.state() == ("waiting", "running")
    await asked.answer(question, "Red")
    await (await asked.next()).say("Done.")
    assert (await asked.ended())["status"] == "completed"
    await assert_settled(asked.raw, asked.id)


@pytest.mark.parametrize("how", ["steer", "dismiss", "cancel"])
async def test_after_a_restart_it_ends_as_before_one(asked: QuestionScene, how: str) -> None:
    await asked.prompt(("ask_user", {"questions": [COLOUR]}))
    question = await asked.question()
    await asked.restarted()
    if how == "cancel":
        answer = await asked.raw.post(f"/api/sessions/{asked.id}/cancel")
        assert answer.body["settled"] is True
    elif how == "dismiss":
        await asked.raw.post(f"/api/questions/{question['id']}", {"dismiss": True})
    else:
        body = {"input": "Green", "when_busy": "steer"}
        await asked.raw.post(f"/api/sessions/{asked.id}/runs", body)
    if how != "cancel":
        await (await asked.next()).say("Well.")
    status = "cancelled" if how == "cancel" else "completed"
    assert (await asked.ended())["status"] == status
    state = {"cancel": "cancelled", "dismiss": "dismissed", "steer": "answered"}[how]
    assert (await asked.question())["state"] == state
    assert await asked.answer(question, "Red") == 409
    await assert_settled(asked.raw, asked.id)
