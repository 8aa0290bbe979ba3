-- Whose requests and whose usage: all that there is so far is the owner's.
-- Sessions, runs, files, comparisons and workspaces say it in their body; where it is missing, too.
CREATE TABLE answers_now (
    principal TEXT NOT NULL,
    key TEXT NOT NULL,
    digest TEXT NOT NULL,
    at TEXT NOT NULL,
    owner TEXT,
    body BLOB NOT NULL,
    PRIMARY KEY (principal, key)
) STRICT;
INSERT INTO answers_now SELECT 'owner', key, digest, at, owner, body FROM answers;
DROP TABLE answers;
ALTER TABLE answers_now RENAME TO answers;
CREATE INDEX answers_oldest ON answers (at);
CREATE INDEX answers_of_owner ON answers (owner) WHERE owner IS NOT NULL;

CREATE TABLE usage_now (
    day TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    principal TEXT NOT NULL,
    model TEXT NOT NULL,
    runs INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    exact INTEGER NOT NULL,
    cost_usd REAL,
    PRIMARY KEY (day, workspace_id, principal, model)
) STRICT, WITHOUT ROWID;
INSERT INTO usage_now
SELECT day, workspace_id, 'owner', model, runs, input_tokens, output_tokens, reasoning_tokens, exact,
    cost_usd
FROM usage;
DROP TABLE usage;
ALTER TABLE usage_now RENAME TO usage;
