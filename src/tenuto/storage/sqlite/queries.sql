-- name: appendable_log
SELECT head, active_run, epoch FROM logs_now WHERE stream = :stream AND deleted_at IS NULL;

-- name: workspace_head
UPDATE logs SET head = head + :n WHERE stream = :stream RETURNING head;

-- name: insert_event
INSERT INTO events (stream, seq, type, run_id, about, body) VALUES (?, ?, ?, ?, ?, ?);

-- Many rows in one step; each body comes as a string, so that not a byte of it is changed.
-- name: insert_events
INSERT INTO events (stream, seq, type, run_id, about, body)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, NULL, CAST(value ->> 4 AS BLOB)
FROM json_each(:rows);

-- name: insert_log
INSERT INTO logs (stream) VALUES (:stream);

-- name: keep_log
INSERT INTO logs (stream) VALUES (:stream) ON CONFLICT DO NOTHING;

-- name: update_log
UPDATE logs SET head = :head, active_run = :active_run, epoch = :epoch, owner = :owner,
    deleted_at = :deleted_at
WHERE stream = :stream;

-- name: log
SELECT head, folded FROM logs_now WHERE stream = :stream;

-- name: events_after
SELECT seq, type, run_id, body FROM events
WHERE stream = :stream AND seq > :after ORDER BY seq LIMIT :limit;

-- name: parts_between
SELECT seq, type, run_id, body FROM events
WHERE stream = :stream AND seq > :first AND seq < :last
    AND type IN ('part.started', 'part.delta', 'part.updated')
ORDER BY seq;

-- name: session
SELECT sessions.body, sessions.control, logs_now.head
FROM sessions JOIN logs_now ON logs_now.stream = sessions.id WHERE sessions.id = :session_id;

-- name: insert_session
INSERT INTO sessions (id, workspace_id, archived, comparison_id, updated_at, body, control)
VALUES (:id, :workspace_id, :archived, :comparison_id, :updated_at, :body, :control);

-- name: update_session
UPDATE sessions SET workspace_id = :workspace_id, archived = :archived,
    comparison_id = :comparison_id, updated_at = :updated_at, body = :body, control = :control
WHERE id = :id;

-- name: session_exists
SELECT 1 FROM logs WHERE stream = :stream;

-- name: sessions_page
SELECT sessions.body, logs_now.head FROM sessions JOIN logs_now ON logs_now.stream = sessions.id
WHERE sessions.comparison_id IS NULL AND sessions.archived = :archived
    AND (sessions.updated_at, sessions.id) < (:at, :id)
ORDER BY sessions.updated_at DESC, sessions.id DESC LIMIT :limit;

-- name: sessions_page_of_workspace
SELECT sessions.body, logs_now.head FROM sessions JOIN logs_now ON logs_now.stream = sessions.id
WHERE sessions.comparison_id IS NULL
    AND sessions.workspace_id = :workspace_id AND sessions.archived = :archived
    AND (sessions.updated_at, sessions.id) < (:at, :id)
ORDER BY sessions.updated_at DESC, sessions.id DESC LIMIT :limit;

-- name: sessions_within
-- Of the session whose sub-agents they are.
SELECT sessions.body, logs_now.head FROM sessions JOIN logs_now ON logs_now.stream = sessions.id
WHERE sessions.comparison_id = :parent AND (sessions.updated_at, sessions.id) < (:at, :id)
ORDER BY sessions.updated_at DESC, sessions.id DESC LIMIT :limit;

-- name: sessions_with_children
-- Goes through all of them: for the few who want to see what is not listed.
SELECT sessions.body, logs_now.head FROM sessions JOIN logs_now ON logs_now.stream = sessions.id
WHERE (sessions.comparison_id IS NULL OR sessions.comparison_id GLOB 'ses_*')
    AND sessions.archived = :archived
    AND (:workspace_id IS NULL OR sessions.workspace_id = :workspace_id)
    AND (:ids IS NULL OR sessions.id IN (SELECT value FROM json_each(:ids)))
    AND (sessions.updated_at, sessions.id) < (:at, :id)
ORDER BY sessions.updated_at DESC, sessions.id DESC LIMIT :limit;

-- name: sessions_found
-- Looks each one up: right while they are few.
SELECT sessions.body, logs_now.head FROM json_each(:ids) AS found
CROSS JOIN sessions ON sessions.id = found.value
JOIN logs_now ON logs_now.stream = sessions.id
WHERE sessions.comparison_id IS NULL AND sessions.archived = :archived
    AND (:workspace_id IS NULL OR sessions.workspace_id = :workspace_id)
    AND (sessions.updated_at, sessions.id) < (:at, :id)
ORDER BY sessions.updated_at DESC, sessions.id DESC LIMIT :limit;

-- name: sessions_among
-- Goes through the sessions, newest first, until there are enough: right when most were found.
SELECT sessions.body, logs_now.head FROM sessions JOIN logs_now ON logs_now.stream = sessions.id
WHERE sessions.id IN (SELECT value FROM json_each(:ids))
    AND sessions.comparison_id IS NULL AND sessions.archived = :archived
    AND (:workspace_id IS NULL OR sessions.workspace_id = :workspace_id)
    AND (sessions.updated_at, sessions.id) < (:at, :id)
ORDER BY sessions.updated_at DESC, sessions.id DESC LIMIT :limit;

-- name: sessions_with_word
SELECT DISTINCT search_entries.session_id FROM search
JOIN search_entries ON search_entries.id = search.rowid
WHERE search MATCH :word;

-- name: sessions_with_word_among
SELECT DISTINCT search_entries.session_id FROM search
JOIN search_entries ON search_entries.id = search.rowid
WHERE search MATCH :word AND search_entries.session_id IN (SELECT value FROM json_each(:ids));

-- name: delete_session
DELETE FROM sessions WHERE id = :session_id;

-- name: delete_runs
DELETE FROM runs WHERE session_id = :session_id;

-- name: delete_messages
DELETE FROM messages WHERE session_id = :session_id;

-- name: delete_things
DELETE FROM things WHERE session_id = :session_id;

-- name: delete_compactions
DELETE FROM compactions WHERE session_id = :session_id;

-- name: delete_unfolded
DELETE FROM unfolded WHERE session_id = :session_id;

-- name: delete_answers
DELETE FROM answers WHERE owner = :owner;

-- name: forget_in_workspace
DELETE FROM events WHERE about = :session_id AND stream = :stream RETURNING seq;

-- name: raise_folded
UPDATE logs SET folded = MAX(folded, :seq) WHERE stream = :stream;

-- name: put_run
INSERT INTO runs (session_id, id, accept_number, accepted_at, accepted_seq, status, body)
VALUES (:session_id, :id, :accept_number, :accepted_at, :accepted_seq, :status, :body);

-- name: update_run
UPDATE runs SET status = :status, body = :body WHERE session_id = :session_id AND id = :id;

-- name: run_of_session
SELECT body FROM runs WHERE session_id = :session_id AND id = :id;

-- name: run
SELECT body, accepted_seq FROM runs WHERE id = :id;

-- name: runs_of_session
SELECT body FROM runs WHERE session_id = :session_id AND accept_number < :before
ORDER BY accept_number DESC LIMIT :limit;

-- name: runs_of_session_in
SELECT body FROM runs
WHERE session_id = :session_id AND accept_number < :before AND status IN (:status, :held)
ORDER BY accept_number DESC LIMIT :limit;

-- name: runs_page
SELECT body FROM runs WHERE (accepted_at, id) < (:at, :id)
ORDER BY accepted_at DESC, id DESC LIMIT :limit;

-- name: runs_page_waiting
SELECT body FROM runs WHERE status IN ('queued', 'held') AND (accepted_at, id) < (:at, :id)
ORDER BY accepted_at DESC, id DESC LIMIT :limit;

-- name: runs_page_in
SELECT body FROM runs WHERE status = :status AND (accepted_at, id) < (:at, :id)
ORDER BY accepted_at DESC, id DESC LIMIT :limit;

-- name: unfinished_of_workspace
SELECT runs.body FROM runs JOIN sessions ON sessions.id = runs.session_id
WHERE runs.status IN ('queued', 'running', 'held') AND sessions.workspace_id = :workspace_id
    AND sessions.comparison_id IS NULL
ORDER BY runs.status DESC, runs.accepted_at, runs.id LIMIT :limit;

-- name: put_message
INSERT INTO messages (session_id, id, seq, role, run_id, body)
VALUES (:session_id, :id, :seq, :role, :run_id, :body);

-- name: finish_message
UPDATE messages SET body = :body WHERE session_id = :session_id AND id = :id RETURNING seq;

-- name: delete_message
DELETE FROM messages WHERE session_id = :session_id AND id = :id;

-- name: outline
SELECT id, role, run_id FROM messages WHERE session_id = :session_id ORDER BY seq;

-- name: messages_after
SELECT body, seq FROM messages WHERE session_id = :session_id AND seq > :after ORDER BY seq;

-- name: messages_before
SELECT body, seq FROM messages WHERE session_id = :session_id AND seq < :before
ORDER BY seq DESC LIMIT :limit;

-- name: message
SELECT body, seq FROM messages WHERE session_id = :session_id AND id = :id;

-- name: last_user_message
SELECT body FROM messages WHERE session_id = :session_id AND role = 'user'
ORDER BY seq DESC LIMIT 1;

-- name: put_unfolded
INSERT INTO unfolded (session_id, message_id, first, last, finished_at)
SELECT session_id, id, seq, :last, :finished_at FROM messages
WHERE session_id = :session_id AND id = :message_id;

-- name: next_unfolded
SELECT session_id, message_id, first, last FROM unfolded
WHERE finished_at < :before ORDER BY finished_at LIMIT 1;

-- name: drop_unfolded
DELETE FROM unfolded WHERE session_id = :session_id AND message_id = :message_id;

-- name: replace_event
UPDATE events SET body = ? WHERE stream = ? AND seq = ?;

-- name: delete_event
DELETE FROM events WHERE stream = ? AND seq = ?;

-- name: put_thing
INSERT INTO things (session_id, kind, id, seq, open, body)
VALUES (:session_id, :kind, :id, :seq, :open, :body)
ON CONFLICT (session_id, kind, id) DO UPDATE SET open = excluded.open, body = excluded.body;

-- name: thing
SELECT body FROM things WHERE kind = :kind AND id = :id;

-- name: things
SELECT body FROM things WHERE session_id = :session_id AND kind = :kind ORDER BY seq;

-- name: changes
SELECT body FROM things WHERE kind = 'change' AND id > :first AND id < :last ORDER BY seq, id;

-- name: open_things
SELECT kind, body FROM things WHERE session_id = :session_id AND open ORDER BY seq;

-- name: open_things_of_kind
SELECT body FROM things INDEXED BY things_open_of_kind WHERE kind = :kind AND open
ORDER BY session_id, seq;

-- name: put_compaction
INSERT INTO compactions (session_id, seq, through_message_id, through_part_id, summary)
VALUES (:session_id, :seq, :through, :part, :summary);

-- name: drop_compaction
DELETE FROM compactions WHERE session_id = :session_id AND through_message_id = :message_id;

-- name: compactions
SELECT through_message_id, through_part_id, summary FROM compactions
WHERE session_id = :session_id ORDER BY seq;

-- name: last_compaction
SELECT compactions.summary, compactions.through_part_id, messages.seq FROM compactions
JOIN messages ON messages.session_id = compactions.session_id
    AND messages.id = compactions.through_message_id
WHERE compactions.session_id = :session_id ORDER BY compactions.seq DESC LIMIT 1;

-- name: add_entry
INSERT INTO search_entries (session_id, message_id) VALUES (:session_id, :message_id)
RETURNING id;

-- name: index_entry
INSERT INTO search (rowid, text) VALUES (:id, :text);

-- name: drop_entry
DELETE FROM search_entries WHERE session_id = :session_id AND message_id = :message_id
RETURNING id;

-- name: drop_entries
DELETE FROM search_entries WHERE session_id = :session_id RETURNING id;

-- name: unindex_entry
DELETE FROM search WHERE rowid = ?;

-- name: answer
SELECT digest, at, owner, body FROM answers WHERE principal = :by AND key = :key;

-- name: put_answer
INSERT INTO answers (principal, key, digest, at, owner, body)
VALUES (:by, :key, :digest, :at, :owner, :body);

-- name: forget_answers
DELETE FROM answers WHERE at < :before;

-- name: old_answers
SELECT 1 FROM answers WHERE at < :before LIMIT 1;

-- name: workspaces
SELECT body FROM workspaces ORDER BY created_at, id;

-- name: workspace
SELECT body FROM workspaces WHERE id = :id;

-- name: put_workspace
INSERT INTO workspaces (id, created_at, body) VALUES (:id, :created_at, :body)
ON CONFLICT (id) DO UPDATE SET created_at = excluded.created_at, body = excluded.body;

-- name: workspace_has_sessions
SELECT 1 FROM sessions WHERE comparison_id IS NULL AND workspace_id = :id
UNION ALL SELECT 1 FROM comparisons WHERE workspace_id = :id
LIMIT 1;

-- name: delete_workspace
DELETE FROM workspaces WHERE id = :id;

-- name: delete_log
DELETE FROM logs WHERE stream = :stream;

-- name: delete_events
DELETE FROM events WHERE stream = :stream;

-- name: delete_some_events
DELETE FROM events WHERE stream = :stream AND seq <= (
    SELECT MAX(seq) FROM (SELECT seq FROM events WHERE stream = :stream ORDER BY seq LIMIT :limit)
);

-- name: deleted_logs
SELECT stream FROM logs WHERE deleted_at < :before ORDER BY deleted_at;

-- name: put_comparison
INSERT INTO comparisons (id, workspace_id, created_at, voted_at, body)
VALUES (:id, :workspace_id, :created_at, :voted_at, :body);

-- name: update_comparison
UPDATE comparisons SET voted_at = :voted_at, body = :body WHERE id = :id;

-- name: comparison
SELECT body FROM comparisons WHERE id = :id;

-- name: comparisons_page
SELECT body FROM comparisons WHERE (created_at, id) < (:at, :id)
ORDER BY created_at DESC, id DESC LIMIT :limit;

-- name: comparisons_page_of_workspace
SELECT body FROM comparisons WHERE workspace_id = :workspace_id AND (created_at, id) < (:at, :id)
ORDER BY created_at DESC, id DESC LIMIT :limit;

-- name: comparisons_voted
SELECT body FROM comparisons WHERE voted_at IS NOT NULL ORDER BY voted_at, id;

-- name: delete_comparison
DELETE FROM comparisons WHERE id = :id;

-- name: add_usage
INSERT INTO usage (day, workspace_id, principal, model, kind, runs, input_tokens, output_tokens,
    reasoning_tokens, cache_read_tokens, cache_write_tokens, exact, cost_usd)
VALUES (:day, :workspace_id, :by, :model, :kind, :runs, :input_tokens, :output_tokens,
    :reasoning_tokens, :cache_read_tokens, :cache_write_tokens, :exact, :cost_usd)
ON CONFLICT (day, workspace_id, principal, model, kind) DO UPDATE SET
    runs = runs + excluded.runs,
    -- A sum that outgrew an integer would refuse every later one of its day.
    input_tokens = MIN(input_tokens + excluded.input_tokens, 1 << 53),
    output_tokens = MIN(output_tokens + excluded.output_tokens, 1 << 53),
    reasoning_tokens = MIN(reasoning_tokens + excluded.reasoning_tokens, 1 << 53),
    cache_read_tokens = MIN(cache_read_tokens + excluded.cache_read_tokens, 1 << 53),
    cache_write_tokens = MIN(cache_write_tokens + excluded.cache_write_tokens, 1 << 53),
    exact = MIN(exact, excluded.exact),
    cost_usd = CASE WHEN cost_usd IS NULL THEN excluded.cost_usd
        ELSE cost_usd + COALESCE(excluded.cost_usd, 0) END;

-- name: drop_used_up
DELETE FROM usage
WHERE day = :day AND workspace_id = :workspace_id AND principal = :by AND model = :model
    AND kind = :kind AND runs <= 0;

-- name: usage_since
-- An old version may have left numbers whose sum is too large for an integer.
SELECT day, model, kind, SUM(runs), SUM(MIN(input_tokens, 1 << 53)),
    SUM(MIN(output_tokens, 1 << 53)), SUM(MIN(reasoning_tokens, 1 << 53)),
    SUM(MIN(cache_read_tokens, 1 << 53)), SUM(MIN(cache_write_tokens, 1 << 53)), MIN(exact),
    SUM(cost_usd)
FROM usage
WHERE day >= :since AND (:workspace_id IS NULL OR workspace_id = :workspace_id)
    AND (:by IS NULL OR principal = :by)
GROUP BY day, model, kind ORDER BY day, model, kind;

-- name: put_file
INSERT INTO files (id, body, content, unused_since) VALUES (:id, :body, :content, :now);

-- name: use_file
INSERT OR IGNORE INTO file_uses (session_id, file_id) VALUES (:session_id, :file_id);

-- name: keep_file
UPDATE files SET unused_since = NULL WHERE id = :file_id;

-- name: drop_uses
DELETE FROM file_uses WHERE session_id = :session_id RETURNING file_id;

-- name: delete_unused_file
DELETE FROM files WHERE id = :file_id
    AND NOT EXISTS (SELECT 1 FROM file_uses WHERE file_id = :file_id);

-- name: old_unused_file
SELECT id FROM files INDEXED BY files_unused WHERE unused_since < :before LIMIT 1;

-- name: old_kept_file
SELECT id FROM files WHERE id >= :first AND id < :last LIMIT 1;

-- name: delete_file
DELETE FROM files WHERE id = :file_id;

-- name: file
SELECT body FROM files WHERE id = :id;

-- name: file_content
SELECT content FROM files WHERE id = :id;

-- name: active_logs
SELECT stream, active_run, owner FROM logs INDEXED BY logs_active
WHERE active_run IS NOT NULL AND owner IS NOT :node
    AND (owner IS NULL OR owner NOT IN ('parked', 'due'));

-- name: owned_logs
SELECT stream, active_run, owner FROM logs INDEXED BY logs_active
WHERE active_run IS NOT NULL AND owner = :node;

-- name: waiting_sessions
SELECT DISTINCT runs.session_id FROM runs JOIN logs ON logs.stream = runs.session_id
WHERE runs.status = 'queued' AND logs.active_run IS NULL
UNION
SELECT stream FROM logs INDEXED BY logs_active WHERE active_run IS NOT NULL AND owner = 'due';

-- name: probe
UPDATE probe SET n = 1 - n;

-- name: kept
SELECT body, rev FROM kept WHERE name = :key;

-- name: keep_first
INSERT INTO kept (name, body, rev) VALUES (:key, :body, 1) ON CONFLICT DO NOTHING;

-- name: keep
UPDATE kept SET body = :body, rev = rev + 1 WHERE name = :key AND rev = :rev;

-- name: forget_output
DELETE FROM outputs WHERE session_id = :session_id AND name = :output
    AND ((at >= :first AND at < :end) OR :at = 0);

-- name: keep_output
INSERT OR REPLACE INTO outputs (session_id, name, at, body)
VALUES (:session_id, :output, :at, :body);

-- name: output
SELECT at, body FROM outputs WHERE session_id = :session_id AND name = :output ORDER BY at;

-- name: delete_outputs
DELETE FROM outputs WHERE session_id = :session_id;
