"""Every way in which SQLite can fail is either trouble with a sentence or a bug of ours."""

from pathlib import Path

import apsw
import pytest

from tenuto.core.error import StorageTrouble
from tenuto.storage.sqlite.file.trouble import SENTENCES, explained

OUR_BUGS = {
    apsw.AbortError,
    apsw.BindingsError,
    apsw.ConnectionClosedError,
    apsw.ConnectionNotClosedError,
    apsw.ConstraintError,
    apsw.CursorClosedError,
    apsw.EmptyError,
    apsw.ExecTraceAbort,
    apsw.ExecutionCompleteError,
    apsw.ExtensionLoadingError,
    apsw.ForkingViolationError,
    apsw.IncompleteExecutionError,
    apsw.InternalError,
    apsw.InterruptError,
    apsw.InvalidContextError,
    apsw.MismatchError,
    apsw.MisuseError,
    apsw.NoFTS5Error,
    apsw.NotFoundError,
    apsw.RangeError,
    apsw.SQLError,
    apsw.SchemaChangeError,
    apsw.ThreadingViolationError,
    apsw.TooBigError,
    apsw.VFSFileClosedError,
    apsw.VFSNotImplementedError,
}


def test_every_error_of_the_library_is_known() -> None:
    errors = {
        kind
        for kind in vars(apsw).values()
        if isinstance(kind, type) and issubclass(kind, apsw.Error) and kind is not apsw.Error
    }
    assert errors == set(SENTENCES) | OUR_BUGS


@pytest.mark.parametrize("kind", [apsw.FullError, apsw.IOError, apsw.CorruptError])
def test_trouble_names_the_file_only_to_whoever_starts_the_server(kind: type[apsw.Error]) -> None:
    said = explained(kind("code"), Path("/data/tenuto.db"))
    assert isinstance(said, StorageTrouble)
    assert "/data/tenuto.db" in str(said)
    assert "/" not in str(explained(kind("code"))).replace("`sqlite3 the database .recover`", "")


def test_a_bug_stays_a_bug() -> None:
    error = apsw.SQLError("no such table")
    assert explained(error, Path("/data/tenuto.db")) is error
