"""What someone typed into a search box, as words."""

WORD_LIMIT = 16
"""More words than this narrow nothing down; the rest are left out."""


def words_of(typed: str) -> tuple[str, ...] | None:
    """The words to look for; None if nothing was typed. Marks alone are not words."""
    parts = typed.replace("\0", " ").split()
    if not parts:
        return None
    return tuple(part for part in parts if any(c.isalnum() for c in part))[:WORD_LIMIT]
