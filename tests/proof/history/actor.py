"""Those who act on one session: they prompt, steer, stop, edit, undo, rename, answer and look."""

import asyncio
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.proof.history.client import HistoryClient
from tests.proof.history.reader import follow_run

DEEDS = {
    "queue": 9,
    "steer": 4,
    "interrupt": 1,
    "reject": 2,
    "attach": 2,
    "cancel the session": 2,
    "cancel a run": 2,
    "take back": 1,
    "change a prompt": 2,
    "move a prompt": 2,
    "hurry a prompt": 1,
    "undo": 2,
    "rename": 1,
    "answer approvals": 5,
    "continue": 1,
    "look": 1,
    "follow a run": 1,
}
SHELL_ANSWERS = ("allow_once", "allow_session", "deny")


@dataclass
class SharedSession:
    """A session that several actors share."""

    session: str
    path: str
    over: asyncio.Event = field(default_factory=asyncio.Event)
    runs: list[str] = field(default_factory=list)
    prompts: int = 0


class Actor:
    def __init__(self, client: HistoryClient, shared: SharedSession, random: Random) -> None:
        self._client = client
        self._shared = shared
        self._random = random

    async def act(self) -> None:
        while not self._shared.over.is_set():
            (deed,) = self._random.choices(list(DEEDS), list(DEEDS.values()))
            await self._do(deed)
            await asyncio.sleep(self._random.uniform(0.02, 0.8))

    async def _do(self, deed: str) -> None:
        path = self._shared.path
        match deed:
            case "attach":
                await self._attach()
            case "cancel the session":
                await self._client.call("POST", f"{path}/cancel")
            case "cancel a run":
                await self._of_a_run("POST", "/cancel")
            case "take back":
                await self._of_a_run("DELETE", "")
            case "change a prompt":
                await self._of_a_run("PATCH", "", {"input": self._words()})
            case "move a prompt":
                await self._of_a_run("PATCH", "", {"position": self._random.randrange(3)})
            case "hurry a prompt":
                await self._of_a_run("PATCH", "", {"when_busy": "steer"})
            case "undo":
                await self._client.call("POST", f"{path}/undo")
            case "rename":
                await self._client.call("PATCH", path, {"title": f"title {self._client.new_key()}"})
            case "answer approvals":
                await self._answer_approvals()
            case "continue":
                await self._continue()
            case "look":
                await self._client.call("GET", f"{path}/messages")
            case "follow a run":
                await self._follow_a_run()
            case when_busy:
                await self._prompt(when_busy)

    async def _prompt(self, when_busy: str) -> None:
        body = {"input": self._words(), "when_busy": when_busy}
        key = self._client.new_key()
        reply = await self._client.insist("POST", f"{self._shared.path}/runs", body, key=key)
        if reply.status == 202:
            self._shared.runs.append(reply.body["id"])
            if self._random.random() < 0.05:
                # As after an answer that was lost on its way, only that it was not.
                await self._client.call("POST", f"{self._shared.path}/runs", body, key=key)

    async def _attach(self) -> None:
        """A run that goes with its connection; the client leaves before or after its end."""
        silent = self._random.random() < 0.4
        body = {
            "input": self._words(" silent" if silent else ""),
            "on_disconnect": "cancel",
            "when_busy": self._random.choice(["queue", "interrupt"]),
        }
        key = self._client.new_key()
        async with self._client.prompt(f"{self._shared.path}/runs", body, key=key) as stream:
            for _ in range(self._random.randrange(0, 12)):
                try:
                    async with asyncio.timeout(self._random.uniform(0.2, 1.5)):
                        if not await stream.read():
                            break
                except TimeoutError:
                    break

    async def _of_a_run(self, method: str, tail: str, body: Any = None) -> None:
        if not self._shared.runs:
            return
        newest = self._shared.runs[-1:] * 2 + self._shared.runs[-5:]
        await self._client.call(method, f"/api/runs/{self._random.choice(newest)}{tail}", body)

    async def _answer_approvals(self) -> None:
        decision = self._random.choice(SHELL_ANSWERS)
        await answer_approvals(self._client, self._shared.path, decision)

    async def _continue(self) -> None:
        if not self._shared.runs:
            return
        key = self._client.new_key()
        path = f"/api/runs/{self._shared.runs[-1]}/continue"
        reply = await self._client.insist("POST", path, key=key)
        if reply.status == 202:
            self._shared.runs.append(reply.body["id"])

    async def _follow_a_run(self) -> None:
        if self._shared.runs:
            try:
                async with asyncio.timeout(self._random.uniform(0.5, 4.0)):
                    await follow_run(self._client, self._random.choice(self._shared.runs[-8:]))
            except TimeoutError:
                return

    def _words(self, more: str = "") -> str:
        """A prompt that is like no other, and that tells the model how to answer."""
        self._shared.prompts += 1
        wishes = ["", "", "", " think", " look", " look look", " ask", " break", " fail"]
        wishes += [" odd", " broken"]
        silent = " silent" if self._random.random() < 0.02 else ""
        words, rate = self._random.randrange(5, 250), self._random.randrange(100, 800)
        wish = more or silent or self._random.choice(wishes)
        return f"{self._client.new_key()} words={words} rate={rate}{wish}"


async def answer_approvals(client: HistoryClient, path: str, decision: str) -> None:
    reply = await client.call("GET", f"{path}/approvals")
    if reply is None or reply.status != 200:
        return
    for approval in reply.body["approvals"]:
        if approval["state"] == "pending":
            await client.call("POST", f"/api/approvals/{approval['id']}", {"decision": decision})
