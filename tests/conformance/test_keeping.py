"""Kept values: whole, one after the other, and never lost to somebody who had not read them."""

import anyio
import pytest

from tenuto.core.error import Conflict
from tenuto.ports.store import KeptValue, Store

pytestmark = pytest.mark.anyio

ANY_BYTES = b"\x00\xff{}\n"


async def test_what_was_never_kept_is_none_and_what_was_is_told_byte_for_byte(
    store: Store,
) -> None:
    assert await store.kept("settings") is None
    assert await store.keep("settings", ANY_BYTES, rev=0) == 1
    assert await store.kept("settings") == KeptValue(body=ANY_BYTES, rev=1)
    assert await store.keep("settings", b"", rev=1) == 2
    assert await store.kept("settings") == KeptValue(body=b"", rev=2)
    assert await store.kept("token") is None


@pytest.mark.parametrize("stale", [0, 1, 3])
async def test_whoever_has_not_read_the_last_one_changes_nothing(store: Store, stale: int) -> None:
    await store.keep("settings", b"one", rev=0)
    await store.keep("settings", b"two", rev=1)
    with pytest.raises(Conflict):
        await store.keep("settings", b"three", rev=stale)
    assert await store.kept("settings") == KeptValue(body=b"two", rev=2)


async def test_a_value_cannot_be_changed_before_there_is_one(store: Store) -> None:
    with pytest.raises(Conflict):
        await store.keep("settings", b"two", rev=1)
    assert await store.kept("settings") is None


async def test_of_many_who_keep_the_first_at_once_one_wins(store: Store) -> None:
    won: list[int] = []

    async def keep(number: int) -> None:
        try:
            await store.keep("token", b"%d" % number, rev=0)
        except Conflict:
            return
        won.append(number)

    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(keep, number)
    kept = await store.kept("token")
    assert len(won) == 1
    assert kept == KeptValue(body=b"%d" % won[0], rev=1)


async def test_many_who_read_again_when_somebody_was_quicker_all_count(store: Store) -> None:
    async def add_one() -> None:
        while True:
            kept = await store.kept("count")
            count, rev = (int(kept.body), kept.rev) if kept else (0, 0)
            try:
                await store.keep("count", b"%d" % (count + 1), rev=rev)
            except Conflict:
                continue
            return

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(add_one)
    assert await store.kept("count") == KeptValue(body=b"20", rev=20)
