"""Reading a transcript from its end, a page at a time."""

import pytest

from tenuto.core.error import NotFound
from tenuto.core.message import Message
from tenuto.core.session import DEFAULT_WORKSPACE
from tenuto.core.value import MessageId, StreamId
from tenuto.ports.query import SessionQuery
from tenuto.ports.store import Store
from tests.conformance.driven import DrivenSession

pytestmark = pytest.mark.anyio


async def test_pages_from_the_end_are_the_whole_transcript(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    for n in range(5):
        await driven.turn(f"question {n}", f"answer {n}")
    await driven.accept("the last question")
    await driven.start()
    await driven.say("still being ", "said")
    whole = (await store.snapshot(driven.id)).messages
    assert len(whole) == 12
    pages: list[tuple[Message, ...]] = []
    before: MessageId | None = None
    while True:
        page = await store.messages(driven.id, limit=5, before=before)
        assert page.head == (await store.session(driven.id)).head
        pages.insert(0, page.messages)
        before = page.before
        if before is None:
            break
    assert [len(page) for page in pages] == [2, 5, 5]
    assert tuple(message for page in pages for message in page) == whole


async def test_a_page_before_a_message_that_is_not_there_is_not_found(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.turn("question", "answer")
    with pytest.raises(NotFound):
        await store.messages(driven.id, limit=5, before=MessageId("msg_of_nobody"))


async def test_a_bounded_snapshot_has_the_newest_messages_and_says_that_there_are_more(
    store: Store,
) -> None:
    driven = await DrivenSession.begin(store)
    for n in range(3):
        await driven.turn(f"question {n}", f"answer {n}")
    whole = await store.snapshot(driven.id)
    assert (len(whole.messages), whole.more) == (6, False)
    for most, more in [(1, True), (5, True), (6, False), (7, False)]:
        bounded = await store.snapshot(driven.id, most_messages=most)
        assert (bounded.messages, bounded.more) == (whole.messages[-most:], more)
        assert (bounded.session, bounded.runs) == (whole.session, whole.runs)


async def test_a_snapshot_tells_the_order_of_the_queue(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.accept("the active one")
    await driven.start()
    first, second = await driven.accept("first"), await driven.accept("second")
    assert (await store.snapshot(driven.id)).queue == (first.id, second.id)
    await driven.withdraw(first.id)
    assert (await store.snapshot(driven.id)).queue == (second.id,)


async def test_a_snapshot_tells_what_was_compacted_until_it_is_undone(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.turn("question", "answer")
    through = (await store.snapshot(driven.id)).messages[-1].id
    await driven.compact(through, "They talked.")
    await driven.turn("more", "answer")
    (told,) = (await store.snapshot(driven.id)).compactions
    assert (told.through_message_id, told.summary) == (through, "They talked.")
    await driven.undo()
    await driven.undo()
    assert (await store.snapshot(driven.id)).compactions == ()


async def test_a_summary_may_end_in_the_middle_of_a_message(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.accept("question")
    await driven.start()
    await driven.say("one", part="prt_1")
    await driven.say("two", part="prt_2")
    answer = await driven.open_id()
    await driven.compact_here(answer, "prt_1", "One was said.")
    await driven.say("three", part="prt_3")
    told = await store.background(driven.id)
    assert told.summary == "One was said."
    assert [[part.id for part in m.parts] for m in told.messages] == [["prt_2", "prt_3"]]
    (shown,) = (await store.snapshot(driven.id)).compactions
    assert (shown.through_message_id, shown.through_part_id) == (answer, "prt_1")
    await driven.settle()
    await driven.turn("more", "answer")
    told = await store.background(driven.id)
    assert [len(message.parts) for message in told.messages] == [2, 1, 1]
    # Whoever reads the transcript still sees all of it.
    assert len((await store.snapshot(driven.id)).messages[1].parts) == 3
    await driven.undo()
    await driven.undo()
    assert (await store.background(driven.id)).summary is None


async def test_a_page_of_sessions_says_where_the_workspaces_log_was(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.turn("question", "answer")
    here = DEFAULT_WORKSPACE
    page = await store.sessions(SessionQuery(workspace_id=here))
    log = await store.read(StreamId(here), after=0, limit=100)
    assert page.head == log.head > 0
    assert (await store.sessions(SessionQuery())).head is None
