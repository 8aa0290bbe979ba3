"""The index of titles and of what was said."""

from collections.abc import Iterable

from tenuto.core.value import SessionId
from tenuto.storage.sqlite.file.transaction import Row, Transaction
from tenuto.storage.statements import TextRow, encode
from tenuto.storage.words import words_of


def enter(transaction: Transaction, row: TextRow) -> None:
    """Make a text findable; nothing may be known under its ids."""
    if not row.text:
        return
    found = transaction.row("add_entry", session_id=row.session_id, message_id=row.message_id)
    assert found is not None
    transaction.run("index_entry", id=found[0], text=row.text)


def leave(transaction: Transaction, session_id: SessionId, message_id: str) -> None:
    gone = transaction.rows("drop_entry", session_id=session_id, message_id=message_id)
    _unindex(transaction, gone)


def leave_all(transaction: Transaction, session_id: SessionId) -> None:
    _unindex(transaction, transaction.rows("drop_entries", session_id=session_id))


def sessions_with(transaction: Transaction, typed: str) -> list[str] | None:
    """The sessions that have every word somewhere; None if nothing was typed."""
    words = words_of(typed)
    if words is None:
        return None
    if not words:
        return []
    # The last word may still be growing under the user's fingers.
    *whole, last = [_quoted(word) for word in words]
    found: list[str] | None = None
    for word in sorted((*whole, last + " *"), key=len, reverse=True):
        found = _narrow(transaction, word, found)
        if not found:
            return []
    return found


def _narrow(transaction: Transaction, word: str, among: list[str] | None) -> list[str]:
    if among is None:
        rows = transaction.rows("sessions_with_word", word=word)
    else:
        ids = encode(among).decode()
        rows = transaction.rows("sessions_with_word_among", word=word, ids=ids)
    return [session_id for (session_id,) in rows]


def _quoted(word: str) -> str:
    # Inside quotes nothing is syntax; a quote is written twice.
    return '"' + word.replace('"', '""') + '"'


def _unindex(transaction: Transaction, entries: Iterable[Row]) -> None:
    rows = list(entries)
    if rows:
        transaction.many("unindex_entry", rows)
