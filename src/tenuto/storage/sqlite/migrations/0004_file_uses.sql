-- Which sessions speak of a file: it goes with the last of them.
CREATE TABLE file_uses (
    session_id TEXT NOT NULL,
    file_id TEXT NOT NULL,
    PRIMARY KEY (session_id, file_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX file_uses_of_file ON file_uses (file_id);

INSERT OR IGNORE INTO file_uses
SELECT runs.session_id, item.value ->> 'file_id'
FROM runs, json_each(CAST(runs.body AS TEXT), '$.input') AS item
WHERE json_type(CAST(runs.body AS TEXT), '$.input') = 'array' AND item.value ->> 'type' = 'file';

INSERT OR IGNORE INTO file_uses
SELECT messages.session_id, part.value ->> 'file_id'
FROM messages, json_each(CAST(messages.body AS TEXT), '$.parts') AS part
WHERE part.value ->> 'type' = 'file';

-- Since when no session speaks of it; NULL while one does.
ALTER TABLE files ADD COLUMN unused_since TEXT;
UPDATE files SET unused_since = CAST(body AS TEXT) ->> 'created_at'
WHERE id NOT IN (SELECT file_id FROM file_uses);
CREATE INDEX files_unused ON files (unused_since) WHERE unused_since IS NOT NULL;
