"""Spools: what is printed is kept, in bounded memory, through a store in trouble."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenuto.core.error import NotFound, StorageTrouble
from tenuto.core.output import OutputPiece, joined
from tenuto.engine import spool as spooling
from tenuto.engine.spool import Spool

pytestmark = pytest.mark.anyio


class Shelves:
    """A store of one output, as every store keeps it."""

    def __init__(self, *troubles: Exception) -> None:
        self.pieces: dict[int, OutputPiece] = {}
        self.writes = 0
        self._troubles = list(troubles)

    async def keep(self, piece: OutputPiece, forget: tuple[int, int]) -> None:
        await asyncio.sleep(0)
        self.writes += 1
        if self._troubles:
            raise self._troubles.pop(0)
        first, end = forget
        self.pieces = {at: p for at, p in self.pieces.items() if not first <= at < end}
        self.pieces[piece.at] = piece

    def text(self) -> str:
        return joined(self.pieces[at] for at in sorted(self.pieces))


@given(st.lists(st.text(min_size=1, max_size=30), max_size=30), st.lists(st.integers(0, 29)))
@settings(deadline=None, max_examples=60)
def test_whatever_is_printed_is_kept_whole_and_in_order(
    texts: list[str], pauses: list[int]
) -> None:
    async def play() -> tuple[bool, str]:
        shelves = Shelves()
        spool = Spool(shelves.keep, beyond=40)
        for n, text in enumerate(texts):
            spool.add(text)
            if n in pauses:
                await asyncio.sleep(0)
        return await spool.close(), shelves.text()

    kept, text = asyncio.run(play())
    printed = "".join(texts)
    assert (kept, text) == ((True, printed) if len(printed) > 40 else (False, ""))


async def test_of_more_than_can_be_kept_the_beginning_and_the_end_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in (("HEAD", 20), ("TAIL", 80), ("PIECE", 10), ("ROW", 10)):
        monkeypatch.setattr(spooling, name, value)
    monkeypatch.setattr(spooling, "PAUSE_SECONDS", 0.0)
    shelves = Shelves()
    spool = Spool(shelves.keep)
    lines = [f"line {n:04}\n" for n in range(100)]
    for line in lines:
        spool.add(line)
        await asyncio.sleep(0)
    assert await spool.close()
    whole = "".join(lines)
    text = shelves.text()
    assert text.startswith(whole[:20]) and text.endswith(whole[-80:])
    assert "were not kept here" in text
    assert len(text) < 20 + 80 + 10 + 60


async def test_what_comes_all_at_once_is_written_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spooling, "PIECE", 7)
    monkeypatch.setattr(spooling, "ROW", 0)
    shelves = Shelves()
    spool = Spool(shelves.keep)
    spool.add("all of it at once, and a little more")
    assert await spool.close()
    assert shelves.text() == "all of it at once, and a little more"
    assert max(len(piece.text) for piece in shelves.pieces.values()) == 7


async def test_between_two_writes_it_rests_but_not_when_it_is_closed() -> None:
    shelves = Shelves()
    spool = Spool(shelves.keep, pause=1_000.0)
    spool.add("one ")
    while not shelves.writes:  # noqa: ASYNC110
        await asyncio.sleep(0)
    spool.add("two ")
    spool.add("three")
    for _ in range(20):
        await asyncio.sleep(0)
    assert shelves.text() == "one "
    async with asyncio.timeout(10):
        assert await spool.close()
    assert (shelves.text(), shelves.writes) == ("one two three", 2)


async def test_a_store_in_trouble_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spooling, "RETRY_SECONDS", 0.0)
    shelves = Shelves(StorageTrouble("full"), StorageTrouble("full"))
    spool = Spool(shelves.keep)
    spool.add("all of it")
    assert await spool.close()
    assert (shelves.text(), shelves.writes) == ("all of it", 3)


async def test_nothing_is_kept_of_a_session_that_is_gone() -> None:
    shelves = Shelves(NotFound("gone"))
    spool = Spool(shelves.keep)
    spool.add("too late")
    assert not await spool.close()
    spool.add("more")
    assert not await spool.close()
    assert shelves.writes == 1
