"""A file goes with the last session that speaks of it; one that nobody uses goes after a day."""

import pytest
from msgspec.structs import replace

from tenuto.core.error import InvalidInput, NotFound
from tenuto.core.file import FileInfo
from tenuto.core.message import ToolFile, ToolState
from tenuto.core.run import InputFile, InputText
from tenuto.core.value import FileId, Instant
from tenuto.ports.store import Store
from tests.conformance.driven import START, DrivenSession, fork_of, new_session

pytestmark = pytest.mark.anyio
PICTURE = FileId("fil_picture")
NEXT_DAY = Instant("2030-01-02T00:00:01.000Z")
DAY_AFTER = Instant("2030-01-03T00:00:01.000Z")


async def upload(store: Store, name: FileId = PICTURE) -> FileInfo:
    info = FileInfo(id=name, name="a.png", media_type="image/png", size=3, created_at=START)
    return await store.put_file(info, b"abc")


async def is_there(store: Store, file_id: FileId = PICTURE) -> bool:
    try:
        return await store.file_content(file_id) == b"abc"
    except NotFound:
        return False


async def speak_of(driven: DrivenSession, file_id: FileId = PICTURE) -> None:
    given = [InputText(text="look"), InputFile(file_id=file_id)]
    await driven.accept(given)  # type: ignore[arg-type]


async def test_a_file_goes_with_its_session(store: Store) -> None:
    await upload(store)
    driven = await DrivenSession.begin(store)
    await speak_of(driven)
    await driven.delete()
    assert not await is_there(store)
    with pytest.raises(NotFound):
        await store.file(PICTURE)


async def test_a_file_of_two_sessions_goes_with_the_second(store: Store) -> None:
    await upload(store)
    first, second = await DrivenSession.begin(store, "one"), await DrivenSession.begin(store, "two")
    for driven in (first, second):
        await speak_of(driven)
    await first.delete()
    assert await is_there(store)
    await second.delete()
    assert not await is_there(store)


async def test_a_copied_message_keeps_its_file(store: Store) -> None:
    await upload(store)
    driven = await DrivenSession.begin(store)
    await speak_of(driven)
    await driven.start()
    await driven.settle()
    other = new_session("copy")
    messages = (await store.snapshot(driven.id)).messages
    await store.create_session(other, *fork_of(messages, other.id))
    copy = DrivenSession(store, other.id)
    await driven.delete()
    assert await is_there(store)
    await copy.delete()
    assert not await is_there(store)


async def test_what_a_tool_gave_stays_with_its_session_also_while_the_run_goes_on(
    store: Store,
) -> None:
    driven = await DrivenSession.begin(store)
    await driven.accept("look")
    await driven.start()
    call = await driven.call_tool()
    await upload(store)
    image = ToolFile(file_id=PICTURE, name="a.png", media_type="image/png", size=3)
    await driven.give(replace(call, state=ToolState.DONE, output="", files=(image,)))
    await store.purge(before=DAY_AFTER)
    assert await is_there(store)
    await driven.settle()
    await store.purge(before=DAY_AFTER)
    assert await is_there(store)
    await driven.delete()
    assert not await is_there(store)


async def test_a_file_that_no_session_speaks_of_goes_after_a_day(store: Store) -> None:
    await upload(store)
    await upload(store, FileId("fil_used"))
    driven = await DrivenSession.begin(store)
    await speak_of(driven, FileId("fil_used"))
    await store.purge(before=Instant("2030-01-01T23:00:00.000Z"))
    assert await is_there(store)
    await store.purge(before=NEXT_DAY)
    assert not await is_there(store)
    await store.purge(before=DAY_AFTER)
    assert await is_there(store, FileId("fil_used"))


async def test_a_prompt_whose_file_went_away_since_it_was_checked_is_not_taken(
    store: Store,
) -> None:
    await upload(store)
    driven = await DrivenSession.begin(store)
    await store.purge(before=NEXT_DAY)
    with pytest.raises(InvalidInput):
        await speak_of(driven)
    snapshot = await store.snapshot(driven.id)
    assert (snapshot.session.head, snapshot.runs) == (0, ())


async def test_a_copy_is_not_made_if_a_file_that_it_speaks_of_went_away_since_it_was_read(
    store: Store,
) -> None:
    await upload(store)
    driven = await DrivenSession.begin(store)
    await speak_of(driven)
    await driven.start()
    await driven.settle()
    messages = (await store.snapshot(driven.id)).messages
    await driven.delete()
    other = new_session("copy")
    with pytest.raises(InvalidInput):
        await store.create_session(other, *fork_of(messages, other.id))
    with pytest.raises(NotFound):
        await store.session(other.id)
