"""The model of the scenario: what it does is written in the prompt."""

import itertools
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import anyio

from tests.support.model_server import Exchange

PACE_SECONDS = 0.002
GATE_SECONDS = 20.0
ENDLESS = 10_000
SAY = ("user", "system")
WISH = re.compile(
    r"(?P<name>[a-z ]+): "
    r"(?P<verb>say|endless|silent|fail|gate|tools|files|sleep|broken|busy|long|job|hurry|linger|"
    r"question|delegate|entrust)\b"
)


class Gates:
    """Doors in an answer that the scenario opens; one that stays shut opens after a while."""

    def __init__(self) -> None:
        self._gates: defaultdict[str, anyio.Event] = defaultdict(anyio.Event)

    def open(self, name: str) -> None:
        self._gates[name].set()

    async def passed(self, name: str) -> None:
        with anyio.move_on_after(GATE_SECONDS):
            await self._gates[name].wait()


class ScriptedModel:
    """Answers a prompt `NAME: verb …` by its verb, and each result of a tool by the next step."""

    def __init__(self, gates: Gates, ledger: Path) -> None:
        self._gates = gates
        self._ledger = ledger
        self._numbers = itertools.count(1)
        self._known: set[str] = set()

    async def __call__(self, exchange: Exchange) -> None:
        prompt = exchange.prompt
        if "Give this conversation a title" in prompt:
            await exchange.say("A fine title")
            return
        if "Sum up this conversation" in prompt:
            await exchange.say("In short: much was said.")
            return
        name, verb, step = _wish(exchange)
        await getattr(self, f"_{verb}")(exchange, name, step)

    async def _say(self, exchange: Exchange, name: str, step: int) -> None:
        """Thinks and speaks."""
        for n in range(3):
            await exchange.reasoning(f"hm {n} ")
            await anyio.sleep(PACE_SECONDS)
        for n in range(5):
            await exchange.text(f"{name} {n} 🌊 ")
            await anyio.sleep(PACE_SECONDS)
        await exchange.usage(10, 5)
        await exchange.finish()

    async def _endless(self, exchange: Exchange, name: str, step: int) -> None:
        """Speaks until it is stopped."""
        for n in range(ENDLESS):
            await exchange.text(f"{n} ")
            await anyio.sleep(PACE_SECONDS * 4)
        await exchange.finish()

    async def _silent(self, exchange: Exchange, name: str, step: int) -> None:
        """Says one word and then nothing more."""
        await exchange.text("Well")

    async def _fail(self, exchange: Exchange, name: str, step: int) -> None:
        """Says that it will never do."""
        await exchange.text("This will br")
        await exchange.chunk({"error": {"type": "invalid_request_error", "message": "No."}})

    async def _broken(self, exchange: Exchange, name: str, step: int) -> None:
        """Breaks off in the middle of a word, and goes on when it is asked to."""
        if "Go on from exactly where it stopped" in exchange.prompt:
            await exchange.text("ld, and on.")
            await exchange.finish()
            return
        await exchange.text("Hello wor")
        await exchange.break_off()

    async def _busy(self, exchange: Exchange, name: str, step: int) -> None:
        """Has too much to do at first."""
        if self._is_new(name):
            await exchange.fail(429, "Slow down.", headers={"retry-after-ms": "30"})
        else:
            await self._say(exchange, name, step)

    async def _long(self, exchange: Exchange, name: str, step: int) -> None:
        """Looks twice, then finds that it was told too much, until that is summed up."""
        if "In short:" in str(exchange.messages[0]):
            await self._say(exchange, name, step)
        elif step < 2:
            await self._call(exchange, "read_file", {"path": f"none{step}.txt"})
            await exchange.finish("tool_calls")
        else:
            await exchange.fail(400, "Too long.", code="context_length_exceeded")

    def _is_new(self, name: str) -> bool:
        known = name in self._known
        self._known.add(name)
        return not known

    async def _gate(self, exchange: Exchange, name: str, step: int) -> None:
        """Waits for the scenario, then looks for a file, then speaks."""
        if step:
            await self._say(exchange, name, step)
            return
        await exchange.text("Wait. ")
        await self._gates.passed(name)
        # Not a tool with a process of its own: here it only has to be a step.
        await self._call(exchange, "read_file", {"path": "none.txt"})
        await exchange.finish("tool_calls")

    async def _tools(self, exchange: Exchange, name: str, step: int) -> None:
        """Looks with two tools at once, runs a command, writes a file, speaks."""
        match step:
            case 0:
                await exchange.text("Looking. ")
                await self._call(exchange, "list_files", {})
                await self._call(exchange, "read_file", {"path": "none.txt"}, index=1)
            case 2:
                await self._shell(exchange, "echo done")
            case 3:
                await self._call(exchange, "write_file", {"path": f"{name}.txt", "content": "x"})
            case _:
                await self._say(exchange, name, step)
                return
        await exchange.finish("tool_calls")

    async def _files(self, exchange: Exchange, name: str, step: int) -> None:
        """Makes a file, and changes one that all its like change: twice, as who did not read it
        is refused at first."""
        made, shared = f"made/{name}.txt", "made/shared.txt"
        match step:
            case 0:
                await self._call(exchange, "write_file", {"path": made, "content": "new\n"})
            case 1 | 2:
                content = f"{name}\nof step {step}\n"
                await self._call(exchange, "write_file", {"path": shared, "content": content})
            case 3:
                given = {"path": shared, "old": "of step", "new": "after step"}
                await self._call(exchange, "edit_file", given)
            case _:
                await self._say(exchange, name, step)
                return
        await exchange.finish("tool_calls")

    async def _question(self, exchange: Exchange, name: str, step: int) -> None:
        """Asks the person, in two calls at once."""
        if step:
            await self._say(exchange, name, step)
            return
        for index in range(2):
            asked = {
                "questions": [{"question": f"{name}, {index}?", "options": [{"label": "Yes"}]}]
            }
            await self._call(exchange, "ask_user", asked, index=index)
        await exchange.finish("tool_calls")

    async def _delegate(self, exchange: Exchange, name: str, step: int) -> None:
        """Lets two sub-agents work at once, of which one asks the person."""
        if step:
            await self._say(exchange, name, step)
            return
        for index, verb in enumerate(("say", "question")):
            await self._call(exchange, "task", {"prompt": f"{name} below: {verb}"}, index=index)
        await exchange.finish("tool_calls")

    async def _entrust(self, exchange: Exchange, name: str, step: int) -> None:
        """Lets a sub-agent work that has to be stopped."""
        await self._call(exchange, "task", {"prompt": f"{name} below: endless"})
        await exchange.finish("tool_calls")

    async def _sleep(self, exchange: Exchange, name: str, step: int) -> None:
        """Runs a command that leaves a tree of sleepers until someone ends it."""
        if step:
            await self._say(exchange, name, step)
            return
        await self._shell(exchange, "sleep 60 & (sleep 60; true)")
        await exchange.finish("tool_calls")

    async def _job(self, exchange: Exchange, name: str, step: int) -> None:
        """Leaves a tree of sleepers in the background."""
        if step:
            await self._say(exchange, name, step)
            return
        await self._start_job(exchange, "echo up; sleep 60 & (sleep 60; true)")
        await exchange.finish("tool_calls")

    async def _hurry(self, exchange: Exchange, name: str, step: int) -> None:
        """Waits for something in the background that ends by itself."""
        started = re.search(r"Started the job (job_\w+)", json.dumps(exchange.messages[-1]))
        if not step:
            await self._start_job(exchange, "echo quick; sleep 0.05; echo done")
        elif started:
            await self._call(exchange, "read_job", {"id": started[1], "wait": 5})
        else:
            await self._say(exchange, name, step)
            return
        await exchange.finish("tool_calls")

    async def _linger(self, exchange: Exchange, name: str, step: int) -> None:
        """Speaks on while something runs in the background."""
        if step:
            await self._endless(exchange, name, step)
            return
        await self._job(exchange, name, step)

    async def _start_job(self, exchange: Exchange, command: str) -> None:
        number = next(self._numbers)
        line = f"echo call_{number} >> '{self._ledger}'; {command}"
        await self._call(exchange, "start_job", {"command": line}, number=number)

    async def _shell(self, exchange: Exchange, command: str) -> None:
        number = next(self._numbers)
        line = f"echo call_{number} >> '{self._ledger}'; {command}"
        await self._call(exchange, "shell", {"command": line}, number=number)

    async def _call(
        self, exchange: Exchange, tool: str, given: object, *, index: int = 0, number: int = 0
    ) -> None:
        await exchange.tool_call(index, f"call_{number or next(self._numbers)}", tool)
        text = json.dumps(given)
        half = len(text) // 2
        await exchange.tool_input(index, text[:half])
        await anyio.sleep(PACE_SECONDS)
        await exchange.tool_input(index, text[half:])


def _wish(exchange: Exchange) -> tuple[str, str, int]:
    """Name and verb of the last prompt, and how many results of tools came since.

    What the server itself says as the user (that an answer was cut off) is passed over, and a
    prompt that was summed up is in the summary.
    """
    step = 0
    for message in reversed(exchange.messages):
        if message["role"] == "tool":
            step += 1
        elif message["role"] in SAY and (found := WISH.findall(_words(message["content"]))):
            # One that was not answered stands before it in the same turn.
            name, verb = found[-1]
            return name, verb, step
    raise AssertionError(f"there is no prompt of ours in {exchange.messages}")


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content)
