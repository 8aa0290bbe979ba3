-- comparison_id is set while the session is part of something, and not listed without it: a pane of a
-- comparison, or a sub-agent of the session with this id.
CREATE INDEX IF NOT EXISTS sessions_within ON sessions (comparison_id, updated_at, id)
    WHERE comparison_id IS NOT NULL;
