"""Reading a transcript from its end, a page at a time."""

import pytest

from tenuto.core.error import NotFound
from tenuto.core.message import Message
from tenuto.core.value import MessageId
from tenuto.ports.store import Store
from tests.conformance.life import Life

pytestmark = pytest.mark.anyio


async def test_pages_from_the_end_are_the_whole_transcript(store: Store) -> None:
    life = await Life.begin(store)
    for n in range(5):
        await life.turn(f"question {n}", f"answer {n}")
    await life.accept("the last question")
    await life.start()
    await life.say("still being ", "said")
    whole = (await store.snapshot(life.id)).messages
    assert len(whole) == 12
    pages: list[tuple[Message, ...]] = []
    before: MessageId | None = None
    while True:
        page = await store.messages(life.id, limit=5, before=before)
        assert page.head == (await store.session(life.id)).head
        pages.insert(0, page.messages)
        before = page.before
        if before is None:
            break
    assert [len(page) for page in pages] == [2, 5, 5]
    assert tuple(message for page in pages for message in page) == whole


async def test_a_page_before_a_message_that_is_not_there_is_not_found(store: Store) -> None:
    life = await Life.begin(store)
    await life.turn("question", "answer")
    with pytest.raises(NotFound):
        await store.messages(life.id, limit=5, before=MessageId("msg_of_nobody"))
