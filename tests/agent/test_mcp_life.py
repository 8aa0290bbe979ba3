"""A server's life, with a real host and a real program: what overtakes what, and what is left."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import psutil  # type: ignore[import-untyped]
import pytest

from tenuto.agent.mcp import life as lives
from tenuto.agent.mcp import message
from tenuto.agent.mcp.life import Ground, McpTrouble, ServerLife
from tenuto.agent.mcp.link import Link, RequestRefused
from tenuto.agent.mcp.sheets import Sheets
from tenuto.agent.tools.processes.sandbox import NO_SANDBOX
from tenuto.core.mcp import McpServer, McpState
from tenuto.ports.mcp import McpReturn, McpSheet

pytestmark = pytest.mark.anyio

TOY = Path(__file__).parents[1] / "support" / "toy_mcp.py"
SERVER = McpServer(name="toy", command=sys.executable, args=(str(TOY),), timeout=20)


class Forgetful:
    """Implements `McpMemory`: nothing is there, and nothing stays."""

    async def sheet(self, name: str) -> McpSheet:
        return McpSheet()

    async def keep(self, name: str, sheet: McpSheet) -> None:
        return

    async def pass_on(self, back: McpReturn) -> bool:
        return False

    async def passed_on(self) -> None:
        return None


class Nobody:
    def progress(self, text: str) -> None:
        return

    async def ask(self, asks: message.Asks) -> None:
        return None


class Patient(Nobody):
    """Somebody who lets a server wait."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.left = asyncio.Event()
        self.answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    async def ask(self, asks: message.Asks) -> Any:
        self.began.set()
        try:
            return await self.answer
        finally:
            self.left.set()


@pytest.fixture
async def link() -> AsyncIterator[Link]:
    link = Link()
    yield link
    await link.stop()


Make = Callable[..., ServerLife]


@pytest.fixture
async def make(link: Link, tmp_path: Path) -> AsyncIterator[Make]:
    made: list[ServerLife] = []

    def one(server: McpServer = SERVER, idle_seconds: float = 600.0) -> ServerLife:
        ground = Ground(
            folder=tmp_path,
            owner="test",
            home="http://127.0.0.1/mcp/callback",
            patience=0,
            idle_seconds=idle_seconds,
        )
        made.append(ServerLife(server, ground, link, NO_SANDBOX, Sheets(Forgetful())))
        return made[-1]

    yield one
    for life in made:
        await life.end()


def call(tool: str, **given: Any) -> Callable[[int, int], message.Order]:
    return lambda number, key: message.CallTool(id=number, key=key, tool=tool, arguments=given)


def toys() -> list[int]:
    us = psutil.Process()
    return [p.pid for p in us.children(recursive=True) if "toy_mcp" in " ".join(p.cmdline())]


async def test_an_end_that_overtakes_the_start_is_an_end(make: Make) -> None:
    """Both orders are read by the host at once, before it has begun anything."""
    life = make()
    waiting = asyncio.create_task(life.ready())
    while life._key is None:
        await anyio.lowlevel.checkpoint()
    with anyio.fail_after(15):
        await life.end()
        with pytest.raises(McpTrouble):
            await waiting
    assert toys() == []


async def test_who_was_ended_never_starts_again(make: Make) -> None:
    life = make()
    await life.ready()
    await life.end()
    with pytest.raises(McpTrouble, match="changed or removed"):
        await life.ask(call("add", a=1, b=1), Nobody())
    assert (life.state, toys()) == (McpState.OFF, [])


async def test_one_that_nobody_needs_ends_and_the_next_call_starts_it(make: Make) -> None:
    life = make(idle_seconds=0.2)
    assert (await life.ask(call("add", a=1, b=1), Nobody())).text == "2"
    with anyio.fail_after(15):
        while life.state is not McpState.IDLE or toys():  # noqa: ASYNC110
            await anyio.sleep(0.02)
    assert (await life.ask(call("add", a=2, b=2), Nobody())).text == "4"


async def test_a_call_that_takes_too_long_is_refused_and_the_server_stays(
    make: Make, tmp_path: Path
) -> None:
    life = make(McpServer(name="toy", command=sys.executable, args=(str(TOY),), timeout=1))
    await life.ready()
    with pytest.raises(RequestRefused, match="within 1 seconds"):
        await life.ask(call("wait", path=str(tmp_path / "waits")), Nobody())
    assert (await life.ask(call("add", a=1, b=1), Nobody())).text == "2"


async def test_the_clock_of_a_call_stands_while_a_person_is_asked(make: Make) -> None:
    life = make(McpServer(name="toy", command=sys.executable, args=(str(TOY),), timeout=1))
    await life.ready()
    person = Patient()
    asking = asyncio.create_task(life.ask(call("order"), person))
    await person.began.wait()
    await anyio.sleep(1.5)
    assert not asking.done()
    person.answer.set_result({"colour": ["red"], "count": ["2"]})
    assert (await asking).text == "2 of red"


async def test_what_a_server_asked_ends_with_the_server(make: Make) -> None:
    life = make()
    await life.ready()
    person = Patient()
    asking = asyncio.create_task(life.ask(call("order"), person))
    await person.began.wait()
    psutil.Process(toys()[0]).kill()
    with anyio.fail_after(15):
        with pytest.raises((McpTrouble, RequestRefused)):
            await asking
        await person.left.wait()


async def test_one_that_never_says_a_word_is_given_up(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lives, "START_SECONDS", 2.0)
    life = make(McpServer(name="mute", command="sleep", args=("1000",)))
    with anyio.fail_after(20), pytest.raises(McpTrouble, match="within 2 seconds"):
        await life.ready()
    assert life.state is McpState.FAILED


async def test_it_is_tried_again_after_a_pause_that_grows(make: Make) -> None:
    life = make(McpServer(name="dead", command="false"))
    pauses = []
    for _ in range(3):
        with pytest.raises(McpTrouble):
            await life.ready()
        pauses.append(round(life._pause))
    assert pauses == [1, 2, 4]


async def test_its_keys_are_not_in_what_it_says_of_its_end(make: Make) -> None:
    server = McpServer(
        name="tells",
        command="sh",
        args=("-c", "echo bad key $KEY >&2; exit 3"),
        env={"KEY": "sk-very-secret"},
    )
    with pytest.raises(McpTrouble) as told:
        await make(server).ready()
    assert "bad key …" in str(told.value)
    assert "sk-very-secret" not in str(told.value)
