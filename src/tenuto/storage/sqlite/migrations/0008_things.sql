-- What a session's log tells of that has a life of its own: approvals were the first kind of it.
-- open: something may still become of it.
CREATE TABLE things (
    session_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    open INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (session_id, kind, id)
) STRICT;
INSERT INTO things
SELECT session_id, 'approval', id, seq, state = 'pending', body FROM approvals;
DROP TABLE approvals;
CREATE INDEX things_by_id ON things (kind, id);
CREATE INDEX things_in_order ON things (session_id, kind, seq);
CREATE INDEX things_open ON things (session_id, seq) WHERE open;
CREATE INDEX things_open_of_kind ON things (kind, session_id, seq) WHERE open;
