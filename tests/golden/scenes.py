"""What happens in the golden files, scene by scene, with a model that the scene holds."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from tests.api.contract.house import House
from tests.golden.recording import Recording
from tests.support.model_server import Exchange

Scene = Callable[[House], Awaitable[Recording]]


async def begin(house: House, **fields: Any) -> Recording:
    answer = await house.api.post("/api/sessions", fields)
    assert answer.status == 201, answer
    return Recording(house, answer.body)


async def streaming(house: House) -> Recording:
    """Reasoning and text, with characters that are one code point and two UTF-16 units."""
    recording = await begin(house)
    await recording.mark()
    _, exchange = await house.held(recording.id, "Draw a 🎈, please")
    await exchange.reasoning("They want a balloon 🎈🎈. ")
    await exchange.reasoning("So be it 👩‍🚀.")
    await recording.until_shown("👩‍🚀.")
    await recording.mark()
    for piece in ["Here 🎈", " it is: ", "👩‍🚀🎈é", "𝒻in"]:
        await exchange.text(piece)
    await recording.until_shown("é𝒻in")
    await recording.mark()
    await exchange.usage(12, 9, 4)
    await exchange.finish()
    await recording.until("run.finished")
    await recording.mark()
    _, exchange = await house.held(recording.id, [{"type": "text", "text": "Again"}])
    await exchange.say("Once more.")
    await recording.until("run.finished")
    await recording.mark()
    return recording


async def tools(house: House) -> Recording:
    """A tool that asks and is allowed, one that is denied, and one that fails."""
    recording = await begin(house)
    _, exchange = await house.held(recording.id, "Work")
    await exchange.text("Let me see. ")
    await exchange.tool_call(0, "call_1", "write_file")
    await exchange.tool_input(0, '{"path": "a.txt", ')
    await recording.until_shown('"a.txt", ')
    await recording.mark()
    await exchange.tool_input(0, '"content": "größe 🎈"}')
    await exchange.finish("tool_calls")
    asked = (await recording.until("approval.requested"))["approval"]
    await recording.mark()
    await house.api.post(f"/api/approvals/{asked['id']}", {"decision": "allow_once"})
    exchange = await house.request()
    await recording.to_the_head()
    await recording.mark()
    await _calls(exchange, ("call_2", "shell", {"command": "rm -r ."}), ("call_3", "read_file", {}))
    asked = (await recording.until("approval.requested"))["approval"]
    denial = {"decision": "deny", "note": "Not that."}
    await house.api.post(f"/api/approvals/{asked['id']}", denial)
    exchange = await house.request()
    await exchange.say("As you wish.")
    await recording.until("run.finished")
    await recording.mark()
    return recording


async def printing(house: House) -> Recording:
    """A command whose output grows while it is watched, and one that says its line anew."""
    recording = await begin(house)
    _, exchange = await house.held(recording.id, "Count")
    await _calls(exchange, ("call_1", "shell", {"command": COUNTING}))
    await _allowed(house, recording)
    await recording.until_shown("größe 🎈\nzwei")
    await recording.mark()
    (house.server.data / "workspace" / "go").touch()
    await recording.until_output("drei")
    await recording.mark()
    (house.server.data / "workspace" / "end").touch()
    exchange = await house.request()
    await recording.to_the_head()
    await recording.mark()
    await exchange.say("Counted.")
    await recording.until("run.finished")
    await recording.mark()
    return recording


COUNTING = (
    "printf 'größe 🎈\\nzwei'; until [ -e go ]; do sleep 0.05; done; "
    "printf '\\rdrei'; until [ -e end ]; do sleep 0.05; done; echo"
)


async def jobs(house: House) -> Recording:
    """A command in the background prints, ends, and the next prompt is told."""
    recording = await begin(house)
    _, exchange = await house.held(recording.id, "Build")
    command = "echo building; until [ -e built ]; do sleep 0.05; done; exit 3"
    await _calls(exchange, ("call_1", "start_job", {"command": command, "name": "build"}))
    await _allowed(house, recording)
    exchange = await house.request()
    await recording.until("job.updated")
    await recording.mark()
    (house.server.data / "workspace" / "built").touch()
    await recording.until("job.ended")
    await recording.mark()
    await exchange.say("It builds.")
    await recording.until("run.finished")
    await house.answered(recording.id, "And?", "It failed.")
    await recording.to_the_head()
    await recording.mark()
    return recording


async def _allowed(house: House, recording: Recording) -> None:
    asked = (await recording.until("approval.requested"))["approval"]
    await house.api.post(f"/api/approvals/{asked['id']}", {"decision": "allow_once"})


async def stopped(house: House) -> Recording:
    """Stopped in the middle of a tool's input, then while a tool waits, then before anything."""
    recording = await begin(house)
    _, exchange = await house.held(recording.id, "Go")
    await exchange.reasoning("Hm. ")
    await exchange.text("Half of a sen")
    await exchange.tool_call(0, "call_1", "shell")
    await exchange.tool_input(0, '{"comm')
    await recording.until_shown('{"comm')
    await house.api.post(f"/api/sessions/{recording.id}/cancel")
    await recording.until("run.finished")
    await recording.mark()
    _, exchange = await house.held(recording.id, "Again")
    await _calls(exchange, ("call_2", "shell", {"command": "true"}))
    await recording.until("approval.requested")
    await house.prompt(recording.id, "and then")
    await recording.to_the_head()
    await recording.mark()
    await house.api.post(f"/api/sessions/{recording.id}/cancel")
    await recording.until("run.finished", 2)
    await recording.mark()
    run, _ = await house.held(recording.id, "Nothing yet")
    await house.api.post(f"/api/runs/{run['id']}/cancel")
    await recording.until("run.finished")
    await recording.mark()
    return recording


async def queue(house: House) -> Recording:
    """Queued, put in another order, changed, taken back, steered, and put in place of all."""
    recording = await begin(house)
    _, exchange = await house.held(recording.id, "The first")
    runs = [await house.prompt(recording.id, f"waits {n}") for n in range(4)]
    await recording.to_the_head()
    await recording.mark()
    path = [f"/api/runs/{run['id']}" for run in runs]
    await house.api.call("PATCH", path[2], {"position": 0})
    await house.api.call("PATCH", path[1], {"input": "says something else"})
    await house.api.call("DELETE", path[0])
    await recording.to_the_head()
    await recording.mark()
    await house.api.call("PATCH", path[3], {"when_busy": "steer"})
    await _calls(exchange, ("call_1", "list_files", {}))
    exchange = await house.request()
    await recording.to_the_head()
    await recording.mark()
    await exchange.text("Steered.")
    await recording.until_shown("Steered.")
    await house.prompt(recording.id, "Instead", when_busy="interrupt")
    await (await house.request()).say("Instead it is.")
    await recording.until("run.finished", 4)
    await recording.to_the_head()
    await recording.mark()
    return recording


async def rewritten(house: House) -> Recording:
    """Undone, asked again, and asked differently."""
    recording = await begin(house)
    for n in range(3):
        await house.answered(recording.id, f"question {n}", f"answer {n}")
    await recording.to_the_head()
    await recording.mark()
    await house.api.post(f"/api/sessions/{recording.id}/undo")
    await recording.until("session.rewound")
    await recording.mark()
    await house.api.post(f"/api/sessions/{recording.id}/retry")
    exchange = await house.request()
    await exchange.text("Another ")
    await recording.until_shown("Another ")
    await recording.mark()
    await exchange.finish()
    await recording.until("run.finished")
    first = (await house.messages(recording.id))[0]
    edit = {"message_id": first["id"], "input": "quite another question"}
    await house.api.post(f"/api/sessions/{recording.id}/edit", edit)
    await (await house.request()).say("Quite another answer.")
    await recording.until("run.finished")
    await recording.mark()
    return recording


async def forked(house: House) -> Recording:
    """The log of a session that began as a copy of another."""
    source = await begin(house)
    await house.answered(source.id, "question", "answer 🎈")
    await house.answered(source.id, "left behind", "left behind")
    last = (await house.messages(source.id))[1]
    answer = await house.api.post(f"/api/sessions/{source.id}/fork", {"message_id": last["id"]})
    recording = Recording(house, answer.body)
    await recording.to_the_head()
    await recording.mark()
    await house.answered(recording.id, "on its own", "now")
    await recording.to_the_head()
    await recording.mark()
    return recording


async def compacted(house: House) -> Recording:
    """Summarised for the model, then undone to before it."""
    recording = await begin(house)
    await house.answered(recording.id, "question", "answer")
    async with anyio.create_task_group() as tasks:
        # It answers only when it is done.
        tasks.start_soon(house.api.post, f"/api/sessions/{recording.id}/compact")
        await (await house.request()).say("They talked.")
        await recording.until("run.finished", 2)
    await recording.mark()
    await house.answered(recording.id, "more", "yes")
    await recording.to_the_head()
    await recording.mark()
    for _ in range(2):
        await house.api.post(f"/api/sessions/{recording.id}/undo")
    await recording.to_the_head()
    await recording.mark()
    return recording


async def failed(house: House) -> Recording:
    """The provider breaks off in the middle, and refuses at once."""
    recording = await begin(house)
    _, exchange = await house.held(recording.id, "Go")
    await exchange.text("So far so g")
    await recording.until_shown("So far")
    await exchange.complain()
    await recording.until("run.finished")
    await recording.mark()
    _, exchange = await house.held(recording.id, "Again")
    await exchange.fail(401, "who are you")
    await recording.until("run.finished")
    await recording.mark()
    return recording


async def interrupted(house: House) -> Recording:
    """Killed in the middle of an answer; what waited goes on by itself, and then it is continued."""
    recording = await begin(house)
    run, exchange = await house.held(recording.id, "Go")
    await exchange.text("Up to 🎈 here")
    await recording.until_shown("here")
    await house.server.kill()
    await house.server.start()
    await recording.until("run.finished")
    await recording.mark()
    answer = await house.api.post(f"/api/runs/{run['id']}/continue")
    assert answer.status == 202, answer
    exchange = await house.request()
    await exchange.text(" and on")
    await recording.until_shown(" and on")
    await recording.mark()
    await exchange.finish()
    await recording.until("run.finished")
    await recording.mark()
    return recording


async def settled(house: House) -> Recording:
    """Settings change before, during and after an answer."""
    recording = await begin(house, title="Named", system="Be brief.")
    path = f"/api/sessions/{recording.id}"
    await house.api.call("PATCH", path, {"draft": "Hel", "pinned": True})
    _, exchange = await house.held(recording.id, "Hello")
    await house.api.call("PATCH", path, {"draft": "", "title": "Renamed 🎈"})
    await recording.to_the_head()
    await recording.mark()
    await exchange.say("Hi.")
    await recording.until("run.finished")
    await house.api.call("PATCH", path, {"archived": True, "system": None})
    await recording.to_the_head()
    await recording.mark()
    return recording


async def deleted(house: House) -> Recording:
    """Deleted while it answers and others wait."""
    recording = await begin(house)
    _, exchange = await house.held(recording.id, "Go")
    await exchange.text("Never to be ")
    await house.prompt(recording.id, "waits")
    await recording.until_shown("Never")
    await recording.to_the_head()
    await recording.mark()
    async with recording.watching():
        await house.api.call("DELETE", f"/api/sessions/{recording.id}")
    assert recording.events[-1]["type"] == "session.deleted"
    return recording


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
        printing,
        jobs,
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
