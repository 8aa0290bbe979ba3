"""What goes wrong in SQLite, in sentences for people."""

from pathlib import Path

import apsw

from tenuto.core.error import StorageTrouble

_DAMAGED = (
    "{file} is damaged. Stop the server, put a backup in its place or move it aside to start"
    " empty; `sqlite3 {file} .recover` may save what is left"
)

SENTENCES: dict[type[apsw.Error], str] = {
    apsw.FullError: "the disk is full: {file} cannot grow",
    apsw.ReadOnlyError: "{file} or its folder cannot be written: it is read-only",
    apsw.IOError: "the disk that holds {file} reports an error",
    apsw.CantOpenError: "{file} cannot be opened: does its folder exist, and may we write there?",
    apsw.PermissionsError: "{file} may not be opened by this user",
    apsw.AuthError: "{file} may not be used by this user",
    apsw.NotADBError: "{file} is not a Tenuto database. Move it aside, or choose another folder",
    apsw.CorruptError: _DAMAGED,
    apsw.FormatError: _DAMAGED,
    apsw.BusyError: "{file} is being used by another program",
    apsw.LockedError: "{file} is being used by another program",
    apsw.ProtocolError: "{file} is being used by another program",
    apsw.NoLFSError: "{file} is too large for this disk",
    apsw.NoMemError: "there is not enough memory to use {file}",
}
"""The one table of foreign errors; a kind that is not in it is a bug of ours, not trouble."""

STILL_USABLE = (apsw.FullError, apsw.ConstraintError, apsw.TooBigError, apsw.SQLError)
"""After these a connection can go on; after any other it is opened anew."""

ABOUT_THE_CONTENT = (
    apsw.ConstraintError,
    apsw.MismatchError,
    apsw.RangeError,
    apsw.TooBigError,
)
"""What one statement was given is at fault: it is undone alone, and its transaction goes on."""

DAMAGE = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)
"""What no waiting mends: the file is not what it was."""

SOMEWHERE = "the database"
"""Whoever watches the server over the network need not know where its files are."""


def trouble(error: apsw.Error, file: Path | str) -> StorageTrouble | None:
    """The sentence for this error; None if it is a bug of ours."""
    for kind, sentence in SENTENCES.items():
        if isinstance(error, kind):
            return StorageTrouble(sentence.format(file=file))
    return None


def explained(error: Exception, file: Path | str = SOMEWHERE) -> Exception:
    """The error as the engine should see it; `file` is named to whoever starts the server."""
    if not isinstance(error, apsw.Error):
        return error
    return trouble(error, file) or error
