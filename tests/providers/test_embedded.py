"""The embedded model: the real one, in its real child process."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import psutil  # type: ignore[import-untyped]
import pytest

from tenuto.agent.providers.embedded.model_file import ModelFile
from tenuto.agent.providers.embedded.provider import EmbeddedProvider
from tenuto.ports.model import Finished, ModelRequest, ProviderError, TextPiece, UsagePiece
from tests.providers.asking import Hearing, texts, until, user

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]

PROMPT = ModelRequest(model="smollm2-135m", system="", turns=(user("Say hello."),), max_tokens=16)
STORY = ModelRequest(
    model="smollm2-135m",
    system="",
    turns=(user("Write a very long story about the sea."),),
    max_tokens=2000,
)


def no_progress(done: int, total: int) -> None:
    """Shows nothing."""


def small(folder: Path) -> ModelFile:
    return ModelFile(folder, progress=no_progress)


@pytest.fixture
async def models_dir(pytestconfig: pytest.Config) -> Path:
    """A folder with the model's file, fetched once for all test runs."""
    kept = os.environ.get("TENUTO_TEST_MODELS")
    assert kept or pytestconfig.cache, "without pytest's cache, set TENUTO_TEST_MODELS"
    folder = Path(kept) if kept else pytestconfig.cache.mkdir("tenuto-models")
    try:
        await small(folder).path()
    except ProviderError as error:
        if "cannot be reached" in str(error):
            pytest.skip(f"the embedded model is not here: {error}")
        raise
    return folder


@pytest.fixture
async def embedded(models_dir: Path) -> AsyncIterator[EmbeddedProvider]:
    provider = EmbeddedProvider(small(models_dir))
    yield provider
    await provider.close()


async def test_it_answers_a_prompt_with_real_tokens(embedded: EmbeddedProvider) -> None:
    assert embedded.pid is None
    pieces = [piece async for batch in embedded.stream(PROMPT) for piece in batch]
    assert len([piece for piece in pieces if isinstance(piece, TextPiece)]) > 1
    assert texts(pieces).strip()
    usage = next(piece.usage for piece in pieces if isinstance(piece, UsagePiece))
    assert 0 < usage.output_tokens <= 16 and usage.input_tokens > 0 and usage.exact
    assert isinstance(pieces[-1], Finished)


async def test_its_model_is_listed_without_starting_it(embedded: EmbeddedProvider) -> None:
    (model,) = await embedded.models()
    assert (model.id, model.context_window, model.capabilities) == (
        "embedded/smollm2-135m",
        8192,
        (),
    )
    assert embedded.pid is None


@pytest.mark.failure(33)
async def test_closing_the_answer_stops_the_model(embedded: EmbeddedProvider) -> None:
    answer = embedded.stream(STORY)
    await anext(answer)
    assert embedded.pid is not None
    child = psutil.Process(embedded.pid)
    await answer.aclose()
    # A model that goes on burns a core; one that stopped burns nothing.
    for _ in range(100):
        before = sum(child.cpu_times()[:2])
        await asyncio.sleep(0.5)
        if sum(child.cpu_times()[:2]) - before < 0.05:
            return
    raise AssertionError("the model went on")


async def test_several_answers_come_from_one_child(embedded: EmbeddedProvider) -> None:
    hearings = [Hearing(embedded.stream(PROMPT)) for _ in range(3)]
    answers = [await hearing.task for hearing in hearings]
    assert all(texts(pieces) for pieces in answers)
    me = psutil.Process()
    servers = [c for c in me.children() if "embedded.server" in " ".join(c.cmdline())]
    assert [c.pid for c in servers] == [embedded.pid]


async def test_a_killed_child_is_an_error_now_and_started_again_next_time(
    embedded: EmbeddedProvider,
) -> None:
    answer = embedded.stream(STORY)
    await anext(answer)
    first = embedded.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    with pytest.raises(ProviderError) as caught:
        async for _ in answer:
            pass
    assert caught.value.retry_after is not None
    again = [piece async for batch in embedded.stream(PROMPT) for piece in batch]
    assert texts(again).strip()
    assert embedded.pid not in (None, first)


async def test_an_idle_child_is_stopped(models_dir: Path) -> None:
    provider = EmbeddedProvider(small(models_dir), idle_seconds=0.2)
    async for _ in provider.stream(PROMPT):
        pid = provider.pid
    assert pid is not None
    await until(lambda: not psutil.pid_exists(pid))
    assert provider.pid is None
    again = [piece async for batch in provider.stream(PROMPT) for piece in batch]
    assert texts(again).strip()
    await provider.close()


async def test_one_who_gives_up_while_it_starts_does_not_take_it_from_others(
    embedded: EmbeddedProvider,
) -> None:
    first, second = Hearing(embedded.stream(PROMPT)), Hearing(embedded.stream(PROMPT))
    await asyncio.sleep(0)
    first.task.cancel()
    assert texts(await second.task).strip()


PARENT = """
import asyncio, pathlib, sys
from tenuto.agent.providers.embedded.provider import EmbeddedProvider
from tests.providers.test_embedded import STORY, small

async def main():
    provider = EmbeddedProvider(small(pathlib.Path(sys.argv[1])))
    async for _ in provider.stream(STORY):
        sys.stdout.write(f"{provider.pid}\\n")
        sys.stdout.flush()

asyncio.run(main())
"""


@pytest.mark.failure(34)
async def test_the_child_does_not_outlive_a_killed_parent(models_dir: Path) -> None:
    parent = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PARENT, str(models_dir)), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    child = int(await parent.stdout.readline())
    assert psutil.pid_exists(child)
    parent.kill()
    await parent.communicate()
    await until(lambda: _is_gone(child))


async def test_the_child_answers_only_those_who_have_its_key(embedded: EmbeddedProvider) -> None:
    await anext(answer := embedded.stream(PROMPT))
    child = psutil.Process(embedded.pid)
    (port,) = {c.laddr.port for c in child.net_connections() if c.status == "LISTEN"}
    async with aiohttp.ClientSession() as client:
        url = f"http://127.0.0.1:{port}/v1/chat/completions"
        async with client.post(url, json={"messages": []}) as response:
            assert response.status == 401
    await answer.aclose()


def _is_gone(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
