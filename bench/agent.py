"""(j) What an agent costs: each token beside plain chat, a long context, and what is sent again."""

import asyncio
import json
import tempfile
import time
from pathlib import Path

import uvloop
from tests.strict.conversation import AT_ANY_ADDRESS, written
from tests.strict.growing import STEPS, Growing, write_file
from tests.strict.vendor import Vendor
from tests.support.model_server import ModelServer
from tests.support.server import TenutoServer

from bench.processes import Tenuto
from bench.reader import TenutoLines, http, new_sessions, read
from bench.table import Figure, percentile, ratio
from bench.talk import message_of, session_of
from tenuto.agent.context import build_turns
from tenuto.agent.providers.kinds import KINDS
from tenuto.agent.trimming import clear_old
from tenuto.core.message import Message, ToolPart, ToolState
from tenuto.core.value import CallId, PartId
from tenuto.ports.model import Model, ModelRequest

TOKENS = 20_000
PASSES = 5
AIM_COST = 1.3
MESSAGES = 1_000
AIM_BUILT_MS = 20.0
AIM_CACHED = 0.8
WORDS = "a quick brown fox jumps over the lazy dog while many tokens are held for their full value"
WINDOW = 4_000_000
"""Bytes: nothing is cleared, so that all of it is told."""


def measure(server: Tenuto) -> list[Figure]:
    return [_cost(server), _built(), *(_cached(vendor) for vendor in AT_ANY_ADDRESS[:3])]


def _cost(server: Tenuto) -> Figure:
    """Both in turn, so that what the machine does meanwhile is done to both."""
    took: dict[str, list[float]] = {"chat": [], "agent": []}
    for _ in range(PASSES):
        for mode, each in took.items():
            busy = server.cpu_seconds()
            uvloop.run(_answer(server.port, mode))
            each.append((server.cpu_seconds() - busy) / TOKENS * 1e6)
    chat, agent = percentile(took["chat"], 0.5), percentile(took["agent"], 0.5)
    return Figure(
        name="CPU of a token, agent",
        value=agent,
        unit="µs",
        beside={"chat": chat},
        ratios={"of chat": ratio(agent, chat)},
        aim=f"<= {AIM_COST:g}x",
        met=agent <= AIM_COST * chat,
    )


async def _answer(port: int, mode: str) -> None:
    (session,) = await new_sessions(port, 1)
    body = {"input": json.dumps({"tokens": TOKENS, "name": f"{session}-{mode}"}), "mode": mode}
    path = f"/api/sessions/{session}/runs"
    await read(TenutoLines, port, http("POST", path, body, accept="text/event-stream"))


def _built() -> Figure:
    messages = [_message(n) for n in range(MESSAGES)]
    model = Model(id="m/m", name="m", provider="m", context_window=1_000_000)
    took = {
        kind: percentile([_build(messages, kind, model) for _ in range(20)][5:], 0.5)
        for kind in KINDS
    }
    worst = max(took.values())
    return Figure(
        name=f"a context of {MESSAGES:,} messages built",
        value=worst,
        unit="ms",
        beside={str(kind): each for kind, each in took.items()},
        aim=f"<= {AIM_BUILT_MS:g} ms",
        met=worst <= AIM_BUILT_MS,
    )


def _build(messages: list[Message], kind: str, model: Model) -> float:
    """Milliseconds of CPU from the transcript to a request's body."""
    wire = next(facts.wire for known, facts in KINDS.items() if known == kind)("http://house/v1")
    began = time.process_time()
    turns = clear_old(build_turns(messages, {}), window=WINDOW)
    wire.body(ModelRequest(model="m", system="Be kind.", turns=turns, cache_key="s"), model)
    return (time.process_time() - began) * 1000


def _message(n: int) -> Message:
    """Every other one is an answer, with a call in it."""
    message = message_of(session_of("ses_long", "long"), n, WORDS)
    if message.role == "user":
        return message
    call = ToolPart(
        id=PartId(f"prt_{n}_9"),
        call_id=CallId(f"call_{n}"),
        name="read_file",
        input={"path": "a"},
        input_text='{"path": "a"}',
        state=ToolState.DONE,
        output=WORDS,
    )
    return Message(
        id=message.id,
        session_id=message.session_id,
        run_id=message.run_id,
        role=message.role,
        parts=(*message.parts, call),
        finish_reason="end_turn",
        created_at=message.created_at,
    )


def _cached(vendor: Vendor) -> Figure:
    with tempfile.TemporaryDirectory(prefix="tenuto-growing-") as folder:
        growing = asyncio.run(_grow(Path(folder), vendor))
    last = growing.reads[-1].total
    return Figure(
        name=f"cached of what {STEPS} steps send, {vendor.name}",
        value=growing.share,
        unit="",
        beside={"tokens of the last": last},
        aim=f">= {AIM_CACHED:g}",
        met=growing.share >= AIM_CACHED and len(growing.reads) == STEPS,
    )


async def _grow(folder: Path, vendor: Vendor) -> Growing:
    growing = Growing(vendor)
    async with ModelServer() as model:
        model.listings = {vendor.name: [vendor.facts.name]}
        model.script(growing)
        written(folder / "data", model.url, [vendor])
        env = {"TENUTO_LIMITS_STEPS": str(STEPS + 1)}
        async with (
            TenutoServer(folder, model_url=None, env=env) as server,
            server.client() as client,
        ):
            write_file(server.data / "workspace")
            session = await client.create_session()
            run = await session.prompt("Read it", model=f"{vendor.name}/{vendor.facts.name}")
            await run.wait()
    return growing
