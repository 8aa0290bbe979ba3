"""How fast prompts are accepted, tokens shown and runs stopped, with other runs under way.

The model server is a process of its own; the numbers hold for one machine that runs all three.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import click
from tests.support.server import TenutoServer

from tenuto.client import Client, RunHandle, Seen
from tenuto.core.event import PartDelta

LOAD = "pieces=100000 rate={rate}"
ENDLESS = "pieces=100000 rate=50"
SHORT = "pieces=1"


async def measure(options: argparse.Namespace) -> None:
    async with model_server() as model_url:
        with tempfile.TemporaryDirectory() as folder:
            server = TenutoServer(Path(folder), model_url=model_url)
            async with server, server.client() as tenuto:
                await report(tenuto, options)


async def report(tenuto: Client, options: argparse.Namespace) -> None:
    prompt = LOAD.format(rate=options.rate)
    load = [await start(tenuto, prompt) for _ in range(options.runs)]
    watching = [asyncio.create_task(count_events(run, options.seconds)) for run in load]
    click.echo(f"{options.runs} runs, {options.rate} pieces/s each, all of them watched")
    show("prompt accepted (202)", [await accept_once(tenuto) for _ in range(options.samples)])
    show("prompt to first token", [await first_token(tenuto) for _ in range(options.samples)])
    show("cancel answered", [await cancel_once(tenuto) for _ in range(options.samples)])
    seen = sum(await asyncio.gather(*watching))
    click.echo(f"{'events shown':24} {seen / options.seconds:8.0f} per second")


async def start(tenuto: Client, prompt: str) -> RunHandle:
    return await (await tenuto.create_session()).prompt(prompt)


async def count_events(run: RunHandle, seconds: float) -> int:
    seen = 0
    try:
        async with asyncio.timeout(seconds):
            async for _ in run.events():
                seen += 1
    except TimeoutError:
        return seen
    return seen


async def accept_once(tenuto: Client) -> float:
    session = await tenuto.create_session()
    began = time.perf_counter()
    run = await session.prompt(SHORT)
    took = time.perf_counter() - began
    await run.wait()
    return took


async def first_token(tenuto: Client) -> float:
    session = await tenuto.create_session()
    began = time.perf_counter()
    await _until_first_token(await session.prompt(ENDLESS))
    took = time.perf_counter() - began
    await session.cancel()
    return took


async def cancel_once(tenuto: Client) -> float:
    session = await tenuto.create_session()
    await _until_first_token(await session.prompt(ENDLESS))
    began = time.perf_counter()
    answer = await session.cancel()
    assert answer.settled
    return time.perf_counter() - began


async def _until_first_token(run: RunHandle) -> None:
    async for item in run.events():
        if isinstance(item, Seen) and isinstance(item.event, PartDelta):
            return


def show(what: str, seconds: Sequence[float]) -> None:
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    click.echo(f"{what:24} p50 {cuts[49] * 1000:6.1f} ms   p99 {cuts[98] * 1000:6.1f} ms")


@asynccontextmanager
async def model_server() -> AsyncIterator[str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.support.model_server", stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        yield (await process.stdout.readline()).decode().strip()
    finally:
        process.terminate()
        await process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--runs", type=int, default=20, help="runs under way meanwhile")
    parser.add_argument("--rate", type=int, default=50, help="pieces per second of each")
    parser.add_argument("--samples", type=int, default=50, help="of each measurement")
    parser.add_argument("--seconds", type=float, default=15, help="of counting events")
    asyncio.run(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
