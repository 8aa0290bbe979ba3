-- Single values that every node shares: settings with providers and their encrypted keys.
CREATE TABLE kept (
    name TEXT PRIMARY KEY,
    body BLOB NOT NULL,
    rev INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
