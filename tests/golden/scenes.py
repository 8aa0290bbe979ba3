"""What happens in the golden files, scene by scene, with a model that the scene holds."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from tests.api.contract.house import House
from tests.golden.tale import Tale
from tests.support.model_server import Exchange

Scene = Callable[[House], Awaitable[Tale]]


async def begin(house: House, **fields: Any) -> Tale:
    answer = await house.api.post("/api/sessions", fields)
    assert answer.status == 201, answer
    return Tale(house, answer.body)


async def streaming(house: House) -> Tale:
    """Reasoning and text, with characters that are one code point and two UTF-16 units."""
    tale = await begin(house)
    await tale.mark()
    _, exchange = await house.held(tale.id, "Draw a 🎈, please")
    await exchange.reasoning("They want a balloon 🎈🎈. ")
    await exchange.reasoning("So be it 👩‍🚀.")
    await tale.until_shown("👩‍🚀.")
    await tale.mark()
    for piece in ["Here 🎈", " it is: ", "👩‍🚀🎈é", "𝒻in"]:
        await exchange.text(piece)
    await tale.until_shown("é𝒻in")
    await tale.mark()
    await exchange.usage(12, 9, 4)
    await exchange.finish()
    await tale.until("run.finished")
    await tale.mark()
    _, exchange = await house.held(tale.id, [{"type": "text", "text": "Again"}])
    await exchange.say("Once more.")
    await tale.until("run.finished")
    await tale.mark()
    return tale


async def tools(house: House) -> Tale:
    """A tool that asks and is allowed, one that is denied, and one that fails."""
    tale = await begin(house)
    _, exchange = await house.held(tale.id, "Work")
    await exchange.text("Let me see. ")
    await exchange.tool_call(0, "call_1", "write_file")
    await exchange.tool_input(0, '{"path": "a.txt", ')
    await tale.until_shown('"a.txt", ')
    await tale.mark()
    await exchange.tool_input(0, '"content": "größe 🎈"}')
    await exchange.finish("tool_calls")
    asked = (await tale.until("approval.requested"))["approval"]
    await tale.mark()
    await house.api.post(f"/api/approvals/{asked['id']}", {"decision": "allow_once"})
    exchange = await house.request()
    await tale.to_the_head()
    await tale.mark()
    await _calls(exchange, ("call_2", "shell", {"command": "rm -r ."}), ("call_3", "read_file", {}))
    asked = (await tale.until("approval.requested"))["approval"]
    denial = {"decision": "deny", "note": "Not that."}
    await house.api.post(f"/api/approvals/{asked['id']}", denial)
    exchange = await house.request()
    await exchange.say("As you wish.")
    await tale.until("run.finished")
    await tale.mark()
    return tale


async def stopped(house: House) -> Tale:
    """Stopped in the middle of a tool's input, then while a tool waits, then before anything."""
    tale = await begin(house)
    _, exchange = await house.held(tale.id, "Go")
    await exchange.reasoning("Hm. ")
    await exchange.text("Half of a sen")
    await exchange.tool_call(0, "call_1", "shell")
    await exchange.tool_input(0, '{"comm')
    await tale.until_shown('{"comm')
    await house.api.post(f"/api/sessions/{tale.id}/cancel")
    await tale.until("run.finished")
    await tale.mark()
    _, exchange = await house.held(tale.id, "Again")
    await _calls(exchange, ("call_2", "shell", {"command": "true"}))
    await tale.until("approval.requested")
    await house.prompt(tale.id, "and then")
    await tale.to_the_head()
    await tale.mark()
    await house.api.post(f"/api/sessions/{tale.id}/cancel")
    await tale.until("run.finished", 2)
    await tale.mark()
    run, _ = await house.held(tale.id, "Nothing yet")
    await house.api.post(f"/api/runs/{run['id']}/cancel")
    await tale.until("run.finished")
    await tale.mark()
    return tale


async def queue(house: House) -> Tale:
    """Queued, put in another order, changed, taken back, steered, and put in place of all."""
    tale = await begin(house)
    _, exchange = await house.held(tale.id, "The first")
    runs = [await house.prompt(tale.id, f"waits {n}") for n in range(4)]
    await tale.to_the_head()
    await tale.mark()
    path = [f"/api/runs/{run['id']}" for run in runs]
    await house.api.call("PATCH", path[2], {"position": 0})
    await house.api.call("PATCH", path[1], {"input": "says something else"})
    await house.api.call("DELETE", path[0])
    await tale.to_the_head()
    await tale.mark()
    await house.api.call("PATCH", path[3], {"when_busy": "steer"})
    await _calls(exchange, ("call_1", "list_files", {}))
    exchange = await house.request()
    await tale.to_the_head()
    await tale.mark()
    await exchange.text("Steered.")
    await tale.until_shown("Steered.")
    await house.prompt(tale.id, "Instead", when_busy="interrupt")
    await (await house.request()).say("Instead it is.")
    await tale.until("run.finished", 4)
    await tale.to_the_head()
    await tale.mark()
    return tale


async def rewritten(house: House) -> Tale:
    """Undone, asked again, and asked differently."""
    tale = await begin(house)
    for n in range(3):
        await house.answered(tale.id, f"question {n}", f"answer {n}")
    await tale.to_the_head()
    await tale.mark()
    await house.api.post(f"/api/sessions/{tale.id}/undo")
    await tale.until("session.rewound")
    await tale.mark()
    await house.api.post(f"/api/sessions/{tale.id}/retry")
    exchange = await house.request()
    await exchange.text("Another ")
    await tale.until_shown("Another ")
    await tale.mark()
    await exchange.finish()
    await tale.until("run.finished")
    first = (await house.messages(tale.id))[0]
    edit = {"message_id": first["id"], "input": "quite another question"}
    await house.api.post(f"/api/sessions/{tale.id}/edit", edit)
    await (await house.request()).say("Quite another answer.")
    await tale.until("run.finished")
    await tale.mark()
    return tale


async def forked(house: House) -> Tale:
    """The log of a session that began as a copy of another."""
    source = await begin(house)
    await house.answered(source.id, "question", "answer 🎈")
    await house.answered(source.id, "left behind", "left behind")
    last = (await house.messages(source.id))[1]
    answer = await house.api.post(f"/api/sessions/{source.id}/fork", {"message_id": last["id"]})
    tale = Tale(house, answer.body)
    await tale.to_the_head()
    await tale.mark()
    await house.answered(tale.id, "on its own", "now")
    await tale.to_the_head()
    await tale.mark()
    return tale


async def compacted(house: House) -> Tale:
    """Summarised for the model, then undone to before it."""
    tale = await begin(house)
    await house.answered(tale.id, "question", "answer")
    async with anyio.create_task_group() as tasks:
        # It answers only when it is done.
        tasks.start_soon(house.api.post, f"/api/sessions/{tale.id}/compact")
        await (await house.request()).say("They talked.")
        await tale.until("run.finished", 2)
    await tale.mark()
    await house.answered(tale.id, "more", "yes")
    await tale.to_the_head()
    await tale.mark()
    for _ in range(2):
        await house.api.post(f"/api/sessions/{tale.id}/undo")
    await tale.to_the_head()
    await tale.mark()
    return tale


async def failed(house: House) -> Tale:
    """The provider breaks off in the middle, and refuses at once."""
    tale = await begin(house)
    _, exchange = await house.held(tale.id, "Go")
    await exchange.text("So far so g")
    await tale.until_shown("So far")
    await exchange.break_off()
    await tale.until("run.finished")
    await tale.mark()
    _, exchange = await house.held(tale.id, "Again")
    await exchange.fail(401, "who are you")
    await tale.until("run.finished")
    await tale.mark()
    return tale


async def interrupted(house: House) -> Tale:
    """Killed in the middle of an answer; what waited goes on by itself, and then it is continued."""
    tale = await begin(house)
    run, exchange = await house.held(tale.id, "Go")
    await exchange.text("Up to 🎈 here")
    await tale.until_shown("here")
    await house.server.kill()
    await house.server.start()
    await tale.until("run.finished")
    await tale.mark()
    answer = await house.api.post(f"/api/runs/{run['id']}/continue")
    assert answer.status == 202, answer
    exchange = await house.request()
    await exchange.text(" and on")
    await tale.until_shown(" and on")
    await tale.mark()
    await exchange.finish()
    await tale.until("run.finished")
    await tale.mark()
    return tale


async def settled(house: House) -> Tale:
    """Settings change before, during and after an answer."""
    tale = await begin(house, title="Named", system="Be brief.")
    path = f"/api/sessions/{tale.id}"
    await house.api.call("PATCH", path, {"draft": "Hel", "pinned": True})
    _, exchange = await house.held(tale.id, "Hello")
    await house.api.call("PATCH", path, {"draft": "", "title": "Renamed 🎈"})
    await tale.to_the_head()
    await tale.mark()
    await exchange.say("Hi.")
    await tale.until("run.finished")
    await house.api.call("PATCH", path, {"archived": True, "system": None})
    await tale.to_the_head()
    await tale.mark()
    return tale


async def deleted(house: House) -> Tale:
    """Deleted while it answers and others wait."""
    tale = await begin(house)
    _, exchange = await house.held(tale.id, "Go")
    await exchange.text("Never to be ")
    await house.prompt(tale.id, "waits")
    await tale.until_shown("Never")
    await tale.to_the_head()
    await tale.mark()
    async with tale.watching():
        await house.api.call("DELETE", f"/api/sessions/{tale.id}")
    assert tale.events[-1]["type"] == "session.deleted"
    return tale


async def _calls(exchange: Exchange, *calls: tuple[str, str, dict[str, Any]]) -> None:
    """End this answer with these tool calls."""
    for index, (call_id, name, given) in enumerate(calls):
        await exchange.tool_call(index, call_id, name)
        await exchange.tool_input(index, json.dumps(given))
    await exchange.finish("tool_calls")


SCENES: dict[str, Scene] = {
    scene.__name__: scene
    for scene in (
        streaming,
        tools,
        stopped,
        queue,
        rewritten,
        forked,
        compacted,
        failed,
        interrupted,
        settled,
        deleted,
    )
}
