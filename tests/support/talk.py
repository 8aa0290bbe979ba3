"""What tests say over and over, in one word each."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from tenuto.client import Client, RunHandle, SessionHandle
from tests.support.model_server import Exchange, ModelServer
from tests.support.watch import until_output


async def say(model: ModelServer, session: SessionHandle, prompt: str, text: str) -> RunHandle:
    """Ask, let the model answer at once, and see it end well."""
    run = await session.prompt(prompt)
    await (await model.next_request()).say(text)
    assert (await run.wait()).status == "completed"
    return run


async def call_tool(
    exchange: Exchange, name: str, /, *, call_id: str = "call_1", **given: Any
) -> None:
    """End this answer with one tool call."""
    await exchange.tool_call(0, call_id, name)
    await exchange.tool_input(0, json.dumps(given))
    await exchange.finish("tool_calls")


async def start_shell(
    model: ModelServer, session: SessionHandle, command: str, *, says: str
) -> tuple[RunHandle, str]:
    """A run whose shell command is at work and has said this; its output so far."""
    run = await session.prompt("Run it")
    await call_tool(await model.next_request(), "shell", command=command)
    return run, await until_output(run, says)


def chunk(delta: dict[str, Any], *, finish: str | None = None) -> bytes:
    """One event of the OpenAI wire, for tests that choose how it is cut into bytes."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"model": "test-model", "choices": [choice]}).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


async def new_sessions(tenuto: Client, count: int) -> list[SessionHandle]:
    return [await tenuto.create_session() for _ in range(count)]


async def held(model: ModelServer, prompts: Sequence[str]) -> dict[str, Exchange]:
    """The requests for these prompts, in whichever order they come."""
    found: dict[str, Exchange] = {}
    while found.keys() != set(prompts):
        exchange = await model.next_request()
        found[exchange.prompt] = exchange
    return found


def all_of(true: Callable[[Exchange], bool], model: ModelServer) -> Callable[[], Any]:
    """For `until`: whether this is true of every exchange so far."""

    async def check() -> bool:
        return all(true(exchange) for exchange in model.exchanges)

    return check
