-- A summary may end within a message; usage is told by what it was for, and what was cached.
ALTER TABLE compactions ADD COLUMN through_part_id TEXT;

CREATE TABLE usage_now (
    day TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    principal TEXT NOT NULL,
    model TEXT NOT NULL,
    kind TEXT NOT NULL,
    runs INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    cache_read_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    exact INTEGER NOT NULL,
    cost_usd REAL,
    PRIMARY KEY (day, workspace_id, principal, model, kind)
) STRICT, WITHOUT ROWID;
INSERT INTO usage_now
SELECT day, workspace_id, principal, model, 'run', runs, input_tokens, output_tokens,
    reasoning_tokens, 0, 0, exact, cost_usd
FROM usage;
DROP TABLE usage;
ALTER TABLE usage_now RENAME TO usage;
