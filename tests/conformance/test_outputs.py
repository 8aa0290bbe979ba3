"""Outputs are kept in pieces, and go with their session."""

import pytest

from tenuto.core.error import NotFound
from tenuto.core.output import OutputPiece, joined
from tenuto.core.value import SessionId
from tenuto.ports.store import Store
from tests.conformance.driven import DrivenSession

pytestmark = pytest.mark.anyio


def piece(at: int, text: str) -> OutputPiece:
    return OutputPiece(at=at, text=text)


async def test_pieces_come_back_in_order_whatever_is_in_them(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    texts = ("größe 🎈\n", "\ud7ff\x01 tab\t", "end")
    await store.keep_output(driven.id, "call_1", piece(0, texts[0]))
    await store.keep_output(driven.id, "call_1", piece(14, texts[2]))
    await store.keep_output(driven.id, "call_1", piece(8, texts[1]))
    await store.keep_output(driven.id, "other", piece(0, "not this"))
    pieces = await store.output(driven.id, "call_1")
    assert pieces == (piece(0, texts[0]), piece(8, texts[1]), piece(14, texts[2]))
    assert joined(pieces) == "".join(texts)


async def test_a_piece_takes_the_place_of_the_one_there_and_is_kept_once(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await store.keep_output(driven.id, "call_1", piece(0, "a"))
    for text in ("b", "bc", "bc"):
        await store.keep_output(driven.id, "call_1", piece(1, text))
    assert await store.output(driven.id, "call_1") == (piece(0, "a"), piece(1, "bc"))


async def test_the_first_piece_takes_the_place_of_all(store: Store) -> None:
    """A model may use the id of a call again."""
    driven = await DrivenSession.begin(store)
    for at, text in ((0, "old"), (3, "older")):
        await store.keep_output(driven.id, "call_1", piece(at, text))
    await store.keep_output(driven.id, "call_1", piece(0, "new"))
    assert await store.output(driven.id, "call_1") == (piece(0, "new"),)


async def test_what_is_forgotten_is_said_to_be_missing(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    for at, text in ((0, "ab"), (2, "cd"), (4, "ef")):
        await store.keep_output(driven.id, "call_1", piece(at, text))
    await store.keep_output(driven.id, "call_1", piece(6, "gh"), forget=(2, 5))
    pieces = await store.output(driven.id, "call_1")
    assert joined(pieces) == "ab\n[4 characters were not kept here]\ngh"


async def test_outputs_are_of_one_session_and_go_with_it(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    other = await DrivenSession.begin(store, "other")
    await store.keep_output(driven.id, "call_1", piece(0, "mine"))
    with pytest.raises(NotFound):
        await store.output(other.id, "call_1")
    await driven.delete()
    for session_id in (driven.id, SessionId("ses_never")):
        with pytest.raises(NotFound):
            await store.output(session_id, "call_1")
        with pytest.raises(NotFound):
            await store.keep_output(session_id, "call_1", piece(0, "late"))
