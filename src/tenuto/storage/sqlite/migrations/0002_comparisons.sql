-- body holds every pane's model, also before the vote: it is never sent as it is.
CREATE TABLE comparisons (
    id TEXT NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    voted_at TEXT,
    body BLOB NOT NULL
) STRICT;
CREATE INDEX comparisons_newest ON comparisons (created_at, id);
CREATE INDEX comparisons_of_workspace ON comparisons (workspace_id, created_at, id);
CREATE INDEX comparisons_voted ON comparisons (voted_at, id) WHERE voted_at IS NOT NULL;

-- Set while the session is a pane; lists and searches leave panes out.
ALTER TABLE sessions ADD COLUMN comparison_id TEXT;
DROP INDEX sessions_newest;
DROP INDEX sessions_of_workspace;
CREATE INDEX sessions_newest ON sessions (archived, updated_at, id) WHERE comparison_id IS NULL;
CREATE INDEX sessions_of_workspace ON sessions (workspace_id, archived, updated_at, id)
    WHERE comparison_id IS NULL;

-- An answer goes with the session, or the comparison, that it was for.
ALTER TABLE answers RENAME COLUMN session_id TO owner;
