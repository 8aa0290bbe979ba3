"""What goes wrong with PostgreSQL, in sentences for people."""

import asyncpg

from tenuto.core.error import StorageTrouble

SENTENCES: dict[str, str] = {
    "28000": "PostgreSQL does not let this user in",
    "28P01": "PostgreSQL refuses the password",
    "3D000": "PostgreSQL has no database of that name",
    "42501": "the user of the database may not do that: it must own its tables and schema",
    "25006": "PostgreSQL is read-only: this is a standby, or it is being replaced",
    "53100": "the disk of PostgreSQL is full",
    "53200": "PostgreSQL has no memory left",
    "53300": "PostgreSQL takes no more connections",
    "53400": "PostgreSQL is at one of its limits",
    "54000": "PostgreSQL is at one of its limits",
    "55P03": "PostgreSQL is busy with something else",
    "57014": "PostgreSQL took too long",
    "57P01": "PostgreSQL is shutting down",
    "57P02": "PostgreSQL has crashed and is starting again",
    "57P03": "PostgreSQL is starting or stopping",
    "58030": "the disk of PostgreSQL reports an error",
    "XX001": "the database is damaged",
    "XX002": "an index of the database is damaged",
}
"""By its code. One that is not here is a bug of ours, not trouble."""

AGAIN = frozenset({"40001", "40P01"})
"""Two got in each other's way, and this one was undone: it may be done again at once."""

DOUBTFUL = ("08", "57P")
"""The connection ended with it: what it was about may have been stored or not."""

AWAY = "PostgreSQL cannot be reached"


def code_of(error: BaseException) -> str:
    """PostgreSQL's own code; empty if it was not PostgreSQL that spoke."""
    return str(getattr(error, "sqlstate", None) or "")


def is_refusal(error: BaseException) -> bool:
    """Whether PostgreSQL itself said no and undid it: then it is surely not stored."""
    code = code_of(error)
    return isinstance(error, asyncpg.PostgresError) and code != "" and not code.startswith(DOUBTFUL)


def explained(error: BaseException) -> Exception:
    """The error as the engine should see it."""
    if isinstance(error, StorageTrouble):
        return error
    sentence = SENTENCES.get(code_of(error))
    if sentence is not None:
        return StorageTrouble(sentence)
    if is_refusal(error):
        assert isinstance(error, Exception)
        return error
    return StorageTrouble(AWAY)
