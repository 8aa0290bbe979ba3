-- A log of a session or of a workspace. An append changes no row: it only adds events.
-- A deleted session's log stays until it is purged: deleted_at says since when.
CREATE TABLE logs (
    stream TEXT NOT NULL PRIMARY KEY,
    head INTEGER NOT NULL DEFAULT 0,
    folded INTEGER NOT NULL DEFAULT 0,
    active_run TEXT,
    epoch INTEGER NOT NULL DEFAULT 0,
    owner TEXT,
    deleted_at TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX logs_active ON logs (stream) WHERE active_run IS NOT NULL;
CREATE INDEX logs_deleted ON logs (deleted_at) WHERE deleted_at IS NOT NULL;

-- about: the session that an event of a workspace's log speaks of; NULL in a session's own log.
CREATE TABLE events (
    stream TEXT NOT NULL,
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    run_id TEXT,
    about TEXT,
    body BLOB NOT NULL,
    PRIMARY KEY (stream, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX events_about ON events (about, stream) WHERE about IS NOT NULL;

-- So a log's head is that of its row, or of its last event if that was appended since.
CREATE VIEW logs_now AS
SELECT stream, folded, active_run, epoch, deleted_at,
    MAX(head, COALESCE((SELECT MAX(seq) FROM events WHERE events.stream = logs.stream), 0)) AS head
FROM logs;

CREATE TABLE workspaces (
    id TEXT NOT NULL PRIMARY KEY,
    created_at TEXT NOT NULL,
    body BLOB NOT NULL
) STRICT;

CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    archived INTEGER NOT NULL,
    updated_at TEXT NOT NULL,
    body BLOB NOT NULL,
    control BLOB NOT NULL
) STRICT;
CREATE INDEX sessions_newest ON sessions (archived, updated_at, id);
CREATE INDEX sessions_of_workspace ON sessions (workspace_id, archived, updated_at, id);

CREATE TABLE runs (
    session_id TEXT NOT NULL,
    id TEXT NOT NULL,
    accept_number INTEGER NOT NULL,
    accepted_at TEXT NOT NULL,
    accepted_seq INTEGER NOT NULL,
    status TEXT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (session_id, id)
) STRICT;
CREATE INDEX runs_by_id ON runs (id);
CREATE INDEX runs_in_order ON runs (session_id, accept_number);
CREATE INDEX runs_newest ON runs (accepted_at, id);
CREATE INDEX runs_by_status ON runs (status, accepted_at, id);

-- seq is that of message.started. An open message's parts are in the log only.
CREATE TABLE messages (
    session_id TEXT NOT NULL,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    role TEXT NOT NULL,
    run_id TEXT,
    body BLOB NOT NULL,
    PRIMARY KEY (session_id, id)
) STRICT;
CREATE INDEX messages_in_order ON messages (session_id, seq, role, id, run_id);

CREATE TABLE approvals (
    session_id TEXT NOT NULL,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    state TEXT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (session_id, id)
) STRICT;
CREATE INDEX approvals_by_id ON approvals (id);
CREATE INDEX approvals_by_state ON approvals (session_id, state, seq);

CREATE TABLE compactions (
    session_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    through_message_id TEXT NOT NULL,
    summary TEXT NOT NULL,
    PRIMARY KEY (session_id, seq)
) STRICT;

-- Finished messages whose deltas are still as they came, between their first and last seq.
CREATE TABLE unfolded (
    session_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    finished_at TEXT NOT NULL,
    PRIMARY KEY (session_id, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX unfolded_oldest ON unfolded (finished_at);

-- message_id is empty for a session's title.
CREATE TABLE search_entries (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    UNIQUE (session_id, message_id)
) STRICT;
CREATE VIRTUAL TABLE search USING fts5 (text, tokenize = "unicode61 remove_diacritics 2");
-- Deleted words leave the index at once, not at some later merge.
INSERT INTO search (search, rank) VALUES ('secure-delete', 1);

CREATE TABLE answers (
    key TEXT NOT NULL PRIMARY KEY,
    digest TEXT NOT NULL,
    at TEXT NOT NULL,
    session_id TEXT,
    body BLOB NOT NULL
) STRICT;
CREATE INDEX answers_oldest ON answers (at);
CREATE INDEX answers_of_session ON answers (session_id) WHERE session_id IS NOT NULL;

CREATE TABLE files (
    id TEXT NOT NULL PRIMARY KEY,
    body BLOB NOT NULL,
    content BLOB NOT NULL
) STRICT;

-- Written only to find out whether a disk that failed can be written again.
CREATE TABLE probe (n INTEGER NOT NULL) STRICT;
INSERT INTO probe (n) VALUES (0);
