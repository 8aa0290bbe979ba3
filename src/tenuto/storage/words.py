"""What someone typed into a search box, and what can be found, as words."""

import re
import unicodedata

WORD_LIMIT = 16
"""More words than this narrow nothing down; the rest are left out."""

_TOKEN = re.compile(r"[^\W_]+")


def words_of(typed: str) -> tuple[str, ...] | None:
    """The words to look for; None if nothing was typed. Marks alone are not words."""
    parts = typed.replace("\0", " ").split()
    if not parts:
        return None
    return tuple(part for part in parts if any(c.isalnum() for c in part))[:WORD_LIMIT]


def tokens(text: str) -> list[str]:
    """What a text is found by: letters and digits, without their accents and their case."""
    plain = unicodedata.normalize("NFKD", text.lower())
    return _TOKEN.findall("".join(c for c in plain if not unicodedata.combining(c)))
