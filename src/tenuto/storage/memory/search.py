"""Looking for words without an index."""

from tenuto.storage.memory.session_rows import SessionRows
from tenuto.storage.words import tokens, words_of


def matches(rows: SessionRows, typed: str) -> bool:
    """Whether each word is in the title or in a whole message; the last may be a beginning."""
    words = words_of(typed)
    if words is None:
        return True
    whole = [m.text() for m in rows.messages.values() if m.finish_reason is not None]
    texts = [tokens(text) for text in (rows.session.title, *whole)]
    phrases = [tokens(word) for word in words]
    if not phrases:
        return False
    *complete, last = phrases
    return all(any(_has(text, phrase, whole=True) for text in texts) for phrase in complete) and (
        any(_has(text, last, whole=False) for text in texts)
    )


def _has(text: list[str], phrase: list[str], *, whole: bool) -> bool:
    *start, end = phrase
    for at in range(len(text) - len(start)):
        found = text[at + len(start)]
        if text[at : at + len(start)] == start and (
            found == end if whole else found.startswith(end)
        ):
            return True
    return False
