"""What is told again begins as it did: providers need not read it, and do not charge for it."""

from pathlib import Path

import pytest

from tests.strict.cache import MarkedCache, PrefixCache, Read
from tests.strict.conversation import AT_ANY_ADDRESS, written
from tests.strict.growing import Growing, write_file
from tests.support.model_server import ModelServer
from tests.support.server import TenutoServer

MARK = {"cache_control": {"type": "ephemeral"}}


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["anthropic", "responses", "chat-openrouter"])
async def test_a_run_that_grows_is_mostly_cached(tmp_path: Path, name: str) -> None:
    (vendor,) = (known for known in AT_ANY_ADDRESS if known.name == name)
    growing = Growing(vendor, steps=20)
    async with ModelServer() as model:
        model.listings = {name: [vendor.facts.name]}
        model.script(growing)
        written(tmp_path / "data", model.url, [vendor])
        async with (
            TenutoServer(tmp_path, model_url=None) as server,
            server.client() as client,
        ):
            write_file(server.data / "workspace")
            session = await client.create_session()
            run = await session.prompt("Read it", model=f"{name}/{vendor.facts.name}")
            ended = await run.wait()
    assert not growing.refused
    assert ended.status == "completed"
    assert len(growing.reads) == 20
    assert growing.share >= 0.8
    assert ended.usage.cache_read_tokens == sum(read.cached for read in growing.reads)


def body(*texts: str, marked: int = -1) -> dict[str, object]:
    blocks = [{"type": "text", "text": text} for text in texts]
    if marked >= 0:
        blocks[marked] |= MARK  # type: ignore[arg-type]
    return {"system": "", "messages": [{"role": "user", "content": blocks}]}


def test_what_was_marked_is_found_again_by_a_later_mark() -> None:
    cache = MarkedCache()
    texts = ["x" * 400, "y" * 400]
    assert cache.read(body(*texts, marked=1)).cached == 0
    assert cache.read(body(*texts, "z" * 400, marked=2)).cached == 216
    assert cache.read(body(*texts, "other", marked=2)).cached == 216


@pytest.mark.parametrize("changed", [("X" * 400, "y" * 400), ("x" * 400,)])
def test_what_begins_otherwise_is_not_found(changed: tuple[str, ...]) -> None:
    cache = MarkedCache()
    cache.read(body("x" * 400, "y" * 400, marked=1))
    assert cache.read(body(*changed, "z", marked=len(changed))).cached == 0


def test_without_a_mark_nothing_is_kept_or_found() -> None:
    cache = MarkedCache()
    cache.read(body("x" * 400))
    assert cache.read(body("x" * 400, marked=0)).cached == 0
    assert cache.read(body("x" * 400)).cached == 0


def test_a_mark_far_behind_finds_nothing() -> None:
    cache = MarkedCache()
    cache.read(body("x" * 400, marked=0))
    later = [str(n) for n in range(21)]
    assert cache.read(body("x" * 400, *later, marked=21)).cached == 0
    assert cache.read(body("x" * 400, *later[:19], marked=19)).cached > 0


def test_a_common_beginning_counts_in_whole_units() -> None:
    cache = PrefixCache()
    first = {"prompt_cache_key": "a", "messages": [{"role": "user", "content": "x" * 6000}]}
    assert cache.read(first).cached == 0
    again = {**first, "messages": [{"role": "user", "content": "x" * 6000 + "y"}]}
    assert cache.read(again) == Read(total=1507, cached=1408)
    assert cache.read({**again, "prompt_cache_key": "b"}).cached == 0
    short = {"messages": [{"role": "user", "content": "x" * 400}]}
    cache.read(short)
    assert cache.read(short).cached == 0
