-- oldest: 1
-- What tools and jobs printed, whole, in pieces. at: characters before the piece.
CREATE TABLE outputs (
    session_id text COLLATE "C" NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    name text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (session_id, name, at)
);
ALTER TABLE outputs ALTER COLUMN body SET STORAGE EXTENDED;
