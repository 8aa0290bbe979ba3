"""The index of titles and of what was said."""

from collections.abc import Iterable

from tenuto.core.message import Message
from tenuto.core.session import Session
from tenuto.core.value import SessionId
from tenuto.storage.sqlite.file.transaction import Row, Transaction
from tenuto.storage.sqlite.rows import encode
from tenuto.storage.words import words_of

TITLE = ""
"""In the place of a message id."""


def enter_title(transaction: Transaction, session: Session) -> None:
    """Put the session's title in the place of its old one."""
    leave(transaction, session.id, TITLE)
    _enter(transaction, session.id, TITLE, session.title)


def enter_message(transaction: Transaction, message: Message) -> None:
    _enter(transaction, message.session_id, message.id, message.text())


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


def _enter(transaction: Transaction, session_id: SessionId, message_id: str, text: str) -> None:
    if not text:
        return
    row = transaction.row("add_entry", session_id=session_id, message_id=message_id)
    assert row is not None
    transaction.run("index_entry", id=row[0], text=text)


def _unindex(transaction: Transaction, entries: Iterable[Row]) -> None:
    rows = list(entries)
    if rows:
        transaction.many("unindex_entry", rows)
