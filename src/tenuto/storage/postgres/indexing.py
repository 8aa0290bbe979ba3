"""Words as PostgreSQL looks for them, made here: no dictionary and no parser but our own."""

from collections.abc import Iterator

from tenuto.storage.words import tokens, words_of

CHUNK_TOKENS = 1_000
"""Of a text in one row: PostgreSQL keeps 255 places of a word in each, and 16,383 places in all."""
OVERLAP_TOKENS = 32
"""So that a phrase across the end of a row is in the next one, whole."""
TOKEN_CHARACTERS = 400
"""It takes words of less than 2 kB."""


def vectors(text: str) -> Iterator[str]:
    """The rows of a text, each as a tsvector is written."""
    found = [token[:TOKEN_CHARACTERS] for token in tokens(text)]
    step = CHUNK_TOKENS - OVERLAP_TOKENS
    for start in range(0, max(len(found) - OVERLAP_TOKENS, 1), step):
        places: dict[str, list[int]] = {}
        for place, token in enumerate(found[start : start + CHUNK_TOKENS], start=1):
            places.setdefault(token, []).append(place)
        if places:
            yield " ".join(f"'{token}':{','.join(map(str, at))}" for token, at in places.items())


def queries(typed: str) -> list[str] | None:
    """One tsquery for each word that was typed; None if nothing was, none if it cannot be found.

    The last word may still be growing under the user's fingers.
    """
    words = words_of(typed)
    if words is None:
        return None
    phrases = [[token[:TOKEN_CHARACTERS] for token in tokens(word)] for word in words]
    if not phrases or not all(phrases):
        return []
    last = len(phrases) - 1
    return [_query(phrase, growing=n == last) for n, phrase in enumerate(phrases)]


def _query(phrase: list[str], *, growing: bool) -> str:
    quoted = [f"'{token}'" for token in phrase]
    if growing:
        quoted[-1] += ":*"
    return " <-> ".join(quoted)
