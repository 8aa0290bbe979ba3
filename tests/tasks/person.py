"""A person who gives a task, and the model that does it step by step."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.model_server import Exchange, ModelServer
from tests.support.raw import RawApi
from tests.tasks.repository import Tree, tree

Json = dict[str, Any]
Calls = list[tuple[str, Json]]


@dataclass(frozen=True, kw_only=True)
class Person:
    raw: RawApi
    model: ModelServer
    folder: Path
    before: Tree
    """The repository as it was given."""
    session: str

    async def ask(self, prompt: str, **how: Any) -> Json:
        answer = await self.raw.post(f"/api/sessions/{self.session}/runs", {"input": prompt, **how})
        assert answer.status == 202, answer
        run: Json = answer.body
        return run

    async def answers(self, *calls: tuple[str, Json]) -> Exchange:
        """The model's next answer: these calls, all at once."""
        request = await self.model.next_request()
        await use(request, *calls)
        return request

    async def says(self, text: str) -> Exchange:
        """The model's last answer."""
        request = await self.model.next_request()
        await request.say(text)
        return request

    async def ended(self, run: Json) -> Json:
        """The run once it has ended."""
        async with self.raw.sse(f"/api/runs/{run['id']}/events") as stream:
            frames = await stream.to_the_end()
        found: Json = frames[-1].data["run"]
        return found

    async def parts(self, run: Json) -> list[Json]:
        """All parts of the run's answer."""
        said = (await self.raw.get(f"/api/sessions/{self.session}/messages"))["messages"]
        answer = [m for m in said if m["run_id"] == run["id"] and m["role"] == "assistant"]
        return [part for message in answer for part in message["parts"]]

    async def tools(self, run: Json) -> list[tuple[str, str]]:
        """Each call of the run, and how it ended."""
        parts = await self.parts(run)
        return [(part["name"], part["state"]) for part in parts if part["type"] == "tool"]

    async def changes(self, run: Json) -> dict[str, str]:
        """What the run did to files."""
        found = (await self.raw.get(f"/api/runs/{run['id']}/changes"))["changes"]
        return {change["path"]: change["kind"] for change in found}

    def tree(self) -> Tree:
        return tree(self.folder)


async def use(request: Exchange, *calls: tuple[str, Json]) -> None:
    """Answer a request with these calls."""
    for n, (tool, given) in enumerate(calls):
        await request.tool_call(n, f"call_{id(request)}_{n}", tool)
        await request.tool_input(n, json.dumps(given))
    await request.finish("tool_calls")


def results(request: Exchange) -> list[str]:
    """What the tools of the last answer said."""
    said: list[str] = []
    for message in reversed(request.messages):
        if message["role"] != "tool":
            break
        said.insert(0, str(message["content"]))
    return said
