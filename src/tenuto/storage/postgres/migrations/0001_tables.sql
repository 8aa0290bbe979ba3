-- oldest: 1
-- Bodies are bytes: shown as they were stored, byte for byte. Ids and instants sort as bytes.

-- A log of a session or of a workspace.
-- rev: decisions so far. ticket: the last append of this epoch, and where the head was after it: so
-- that a writer whose answer was lost finds out. No index has a column that an append changes.
CREATE TABLE logs (
    stream text COLLATE "C" PRIMARY KEY,
    head bigint NOT NULL DEFAULT 0,
    folded bigint NOT NULL DEFAULT 0,
    active_run text COLLATE "C",
    epoch bigint NOT NULL DEFAULT 0,
    owner text COLLATE "C",
    rev bigint NOT NULL DEFAULT 0,
    ticket bigint NOT NULL DEFAULT 0,
    ticket_head bigint NOT NULL DEFAULT 0,
    deleted_at text COLLATE "C"
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX logs_active ON logs (owner) WHERE active_run IS NOT NULL;
CREATE INDEX logs_deleted ON logs (deleted_at) WHERE deleted_at IS NOT NULL;

-- about: the session that an event of a workspace's log speaks of; NULL in a session's own log.
CREATE TABLE events (
    stream text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    type text COLLATE "C" NOT NULL,
    run_id text COLLATE "C",
    about text COLLATE "C",
    body bytea NOT NULL,
    PRIMARY KEY (stream, seq)
);
CREATE INDEX events_about ON events (about, stream) WHERE about IS NOT NULL;

-- Events for a workspace's log that have no number yet; they stay here for milliseconds.
CREATE TABLE outbox (
    workspace_id text COLLATE "C" NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    type text COLLATE "C" NOT NULL,
    run_id text COLLATE "C",
    about text COLLATE "C" NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (workspace_id, id)
);

CREATE TABLE workspaces (
    id text COLLATE "C" PRIMARY KEY,
    created_at text COLLATE "C" NOT NULL,
    body bytea NOT NULL
);

CREATE TABLE sessions (
    id text COLLATE "C" PRIMARY KEY,
    workspace_id text COLLATE "C" NOT NULL,
    archived boolean NOT NULL,
    comparison_id text COLLATE "C",
    updated_at text COLLATE "C" NOT NULL,
    body bytea NOT NULL,
    control bytea NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX sessions_newest ON sessions (archived, updated_at, id) WHERE comparison_id IS NULL;
CREATE INDEX sessions_of_workspace ON sessions (workspace_id, archived, updated_at, id)
    WHERE comparison_id IS NULL;

CREATE TABLE runs (
    session_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    accept_number bigint NOT NULL,
    accepted_at text COLLATE "C" NOT NULL,
    accepted_seq bigint NOT NULL,
    status text COLLATE "C" NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (session_id, id)
) WITH (fillfactor = 70);
CREATE INDEX runs_by_id ON runs (id);
CREATE INDEX runs_in_order ON runs (session_id, accept_number);
CREATE INDEX runs_newest ON runs (accepted_at, id);
CREATE INDEX runs_by_status ON runs (status, accepted_at, id);
CREATE INDEX runs_unfinished ON runs (session_id) WHERE status IN ('queued', 'running', 'held');

-- seq is that of message.started. The parts of an open message are in the log only.
CREATE TABLE messages (
    session_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    open boolean NOT NULL,
    role text COLLATE "C" NOT NULL,
    run_id text COLLATE "C",
    body bytea NOT NULL,
    PRIMARY KEY (session_id, id)
) WITH (fillfactor = 80);
CREATE INDEX messages_in_order ON messages (session_id, seq, role, id, run_id);
CREATE INDEX messages_open ON messages (session_id) WHERE open;

-- What a session's log tells of that has a life of its own. open: something may still become of it.
CREATE TABLE things (
    session_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    open boolean NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (session_id, kind, id)
);
CREATE INDEX things_by_id ON things (kind, id);
CREATE INDEX things_in_order ON things (session_id, kind, seq);
CREATE INDEX things_open ON things (session_id, seq) WHERE open;
CREATE INDEX things_open_of_kind ON things (kind, session_id, seq) WHERE open;

CREATE TABLE compactions (
    session_id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    through_message_id text COLLATE "C" NOT NULL,
    through_part_id text COLLATE "C",
    summary bytea NOT NULL,
    PRIMARY KEY (session_id, seq)
);

-- Finished messages whose deltas are still as they came, between their first and last seq.
CREATE TABLE unfolded (
    session_id text COLLATE "C" NOT NULL,
    message_id text COLLATE "C" NOT NULL,
    first bigint NOT NULL,
    last bigint NOT NULL,
    finished_at text COLLATE "C" NOT NULL,
    PRIMARY KEY (session_id, message_id)
);
CREATE INDEX unfolded_oldest ON unfolded (finished_at);

-- message_id is empty for a session's title. A long text has several rows, which overlap.
CREATE TABLE search (
    session_id text COLLATE "C" NOT NULL,
    message_id text COLLATE "C" NOT NULL,
    n integer NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (session_id, message_id, n)
);
CREATE INDEX search_words ON search USING gin (words);

CREATE TABLE answers (
    principal text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    at text COLLATE "C" NOT NULL,
    owner text COLLATE "C",
    body bytea NOT NULL,
    PRIMARY KEY (principal, key)
);
CREATE INDEX answers_oldest ON answers (at);
CREATE INDEX answers_of_owner ON answers (owner) WHERE owner IS NOT NULL;

-- Every write that was done, for a day: whoever lost the answer looks here. Tokens go up with time.
CREATE TABLE receipts (token uuid PRIMARY KEY);

CREATE TABLE files (
    id text COLLATE "C" PRIMARY KEY,
    body bytea NOT NULL,
    unused_since text COLLATE "C"
);
CREATE INDEX files_unused ON files (unused_since) WHERE unused_since IS NOT NULL;
CREATE TABLE chunks (
    file_id text COLLATE "C" NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    n integer NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (file_id, n)
);
ALTER TABLE chunks ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE TABLE file_uses (
    session_id text COLLATE "C" NOT NULL,
    file_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (session_id, file_id)
);
CREATE INDEX file_uses_of_file ON file_uses (file_id);

-- body holds every pane's model, also before the vote: it is never sent as it is.
CREATE TABLE comparisons (
    id text COLLATE "C" PRIMARY KEY,
    workspace_id text COLLATE "C" NOT NULL,
    created_at text COLLATE "C" NOT NULL,
    voted_at text COLLATE "C",
    rev bigint NOT NULL DEFAULT 0,
    body bytea NOT NULL
);
CREATE INDEX comparisons_newest ON comparisons (created_at, id);
CREATE INDEX comparisons_of_workspace ON comparisons (workspace_id, created_at, id);
CREATE INDEX comparisons_voted ON comparisons (voted_at, id) WHERE voted_at IS NOT NULL;

-- model is empty for what is hidden. slot spreads what many nodes write at once over several rows.
CREATE TABLE usage (
    day text COLLATE "C" NOT NULL,
    workspace_id text COLLATE "C" NOT NULL,
    principal text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    slot integer NOT NULL,
    runs bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    reasoning_tokens bigint NOT NULL,
    cache_read_tokens bigint NOT NULL,
    cache_write_tokens bigint NOT NULL,
    exact boolean NOT NULL,
    cost_usd double precision,
    PRIMARY KEY (day, workspace_id, principal, model, kind, slot)
) WITH (fillfactor = 70);

-- no: what its advisory lock is known by; pulse: it has held that lock, so its absence says something.
-- knows: the newest schema that its program knows.
CREATE TABLE nodes (
    id text COLLATE "C" PRIMARY KEY,
    no integer GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL,
    version text NOT NULL,
    knows integer NOT NULL,
    draining boolean NOT NULL,
    active_runs integer NOT NULL,
    started_at text COLLATE "C" NOT NULL,
    seen_at timestamptz NOT NULL,
    until timestamptz NOT NULL,
    pulse boolean NOT NULL DEFAULT false
) WITH (fillfactor = 50);

CREATE TABLE tasks (
    name text COLLATE "C" PRIMARY KEY,
    owner text COLLATE "C" NOT NULL,
    until timestamptz NOT NULL
);

CREATE TABLE kept (
    name text COLLATE "C" PRIMARY KEY,
    body bytea NOT NULL,
    rev bigint NOT NULL
);
