-- What tools and jobs printed, whole, in pieces. at: characters before the piece.
CREATE TABLE outputs (
    session_id TEXT NOT NULL,
    name TEXT NOT NULL,
    at INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (session_id, name, at)
) STRICT;
