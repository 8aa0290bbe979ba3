-- name: append
-- A waiting update sees the row as it is when its turn comes: the order of numbers is that of
-- commits, and a writer whose epoch is over moves nothing.
WITH asked AS (
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[],
        $6::bigint[]) AS a(stream, run_id, epoch, n, before, ticket)
),
moved AS (
    UPDATE logs l SET head = l.head + a.n, ticket = a.ticket, ticket_head = l.head + a.n
    FROM asked a
    WHERE l.stream = a.stream AND l.epoch = a.epoch AND l.active_run = a.run_id
        AND l.ticket = a.before AND l.deleted_at IS NULL
    RETURNING l.stream, l.head - a.n AS base
),
placed AS (
    INSERT INTO events (stream, seq, type, run_id, body)
    SELECT e.stream, m.base + e.place, e.type, e.run_id, e.body
    FROM unnest($7::text[], $8::bigint[], $9::text[], $10::text[], $11::bytea[])
        AS e(stream, place, type, run_id, body)
    JOIN moved m ON m.stream = e.stream
)
SELECT stream, base FROM moved;

-- name: tickets
SELECT stream, active_run, epoch, ticket, ticket_head FROM logs
WHERE stream = ANY ($1::text[]) AND deleted_at IS NULL;

-- name: write
SELECT said, what, base, n FROM tenuto_write_1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
    $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31,
    $32, $33, $34, $35);

-- name: write_beside
SELECT said, what, base, n FROM tenuto_write_beside_1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
    $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29,
    $30, $31, $32, $33, $34, $35, $36);

-- name: sequence
SELECT base, n FROM tenuto_sequence_1($1);

-- name: lock_session
SELECT 1 FROM logs WHERE stream = $1 FOR NO KEY UPDATE;

-- name: desk
-- Everything that decisions see, as one statement sees it: k says what a row is.
SELECT 's' AS k, s.id AS sid, l.head AS n, l.rev AS m, s.body, s.control AS more, NULL AS x,
    NULL AS y
FROM sessions s JOIN logs l ON l.stream = s.id WHERE s.id = ANY ($1::text[])
UNION ALL
SELECT 'r', session_id, accept_number, 0, body, NULL, NULL, NULL FROM runs
WHERE session_id = ANY ($1::text[]) AND status IN ('queued', 'running', 'held')
UNION ALL
SELECT 't', session_id, seq, 0, body, NULL, kind, NULL FROM things
WHERE session_id = ANY ($1::text[]) AND open
UNION ALL
SELECT 'k', '', 0, 0, body, NULL, digest, at FROM answers WHERE principal = $2 AND key = $3

-- name: desk_runs
UNION ALL
SELECT 'e', r.session_id, r.accept_number, 0, r.body, NULL, NULL, NULL
FROM unnest($1::text[]) AS a(sid) CROSS JOIN LATERAL (
    SELECT session_id, accept_number, body FROM runs WHERE session_id = a.sid
    ORDER BY accept_number DESC LIMIT $4
) r

-- name: desk_outline
UNION ALL
SELECT 'o', session_id, seq, 0, convert_to(id, 'UTF8'), NULL, role, run_id FROM messages
WHERE session_id = ANY ($1::text[])

-- name: desk_comparison
UNION ALL
SELECT 'c', '', 0, rev, body, NULL, NULL, NULL FROM comparisons WHERE id = $5

-- name: page
SELECT l.head, l.folded, e.seq, e.type, e.run_id, e.body,
    EXISTS (SELECT 1 FROM outbox o WHERE o.workspace_id = l.stream) AS waiting
FROM logs l
LEFT JOIN LATERAL (
    SELECT * FROM (
        SELECT seq, type, run_id, body,
            sum(octet_length(body)) OVER (ORDER BY seq) - octet_length(body) AS before
        FROM (
            SELECT seq, type, run_id, body FROM events
            WHERE stream = l.stream AND seq > $2 ORDER BY seq LIMIT $3
        ) most
    ) sized WHERE before < $4
) e ON true
WHERE l.stream = $1 ORDER BY e.seq;

-- name: pages
SELECT l.stream, l.head, l.folded, e.seq, e.type, e.run_id, e.body,
    EXISTS (SELECT 1 FROM outbox o WHERE o.workspace_id = l.stream) AS waiting
FROM unnest($1::text[], $2::bigint[]) AS a(stream, after) JOIN logs l ON l.stream = a.stream
LEFT JOIN LATERAL (
    SELECT * FROM (
        SELECT seq, type, run_id, body,
            sum(octet_length(body)) OVER (ORDER BY seq) - octet_length(body) AS before
        FROM (
            SELECT seq, type, run_id, body FROM events
            WHERE stream = a.stream AND seq > a.after ORDER BY seq LIMIT $3
        ) most
    ) sized WHERE before < $4
) e ON true
ORDER BY l.stream, e.seq;

-- name: events_between
SELECT seq, type, run_id, body FROM events
WHERE stream = $1 AND seq > $2 AND seq <= $3 ORDER BY seq;

-- name: answer
SELECT digest, at, owner, body FROM answers WHERE principal = $1 AND key = $2;

-- name: head
SELECT head FROM logs WHERE stream = $1;

-- name: session
SELECT s.body, s.control, l.head FROM sessions s JOIN logs l ON l.stream = s.id WHERE s.id = $1;

-- name: sessions_page
-- $6: one query for each word that must be found somewhere in the session; NULL: all sessions.
-- As one statement sees it: l is where the workspace's log is, and whether something waits for it.
SELECT 's' AS k, row_number() OVER (ORDER BY page.updated_at DESC, page.id DESC) AS place,
    page.head AS n, page.body, false AS waiting
FROM (
    SELECT s.id, s.updated_at, s.body, l.head FROM sessions s JOIN logs l ON l.stream = s.id
    WHERE s.comparison_id IS NULL AND s.archived = $1 AND (s.updated_at, s.id) < ($2, $3)
        AND ($4::text IS NULL OR s.workspace_id = $4)
        AND ($6::text[] IS NULL OR s.id IN (
            SELECT w.session_id FROM unnest($6::text[]) WITH ORDINALITY AS q(word, n)
            JOIN search w ON w.words @@ q.word::tsquery
            GROUP BY w.session_id HAVING count(DISTINCT q.n) = cardinality($6::text[])
        ))
    ORDER BY s.updated_at DESC, s.id DESC LIMIT $5
) page
UNION ALL
SELECT 'l', 0, head, NULL, EXISTS (SELECT 1 FROM outbox WHERE workspace_id = $4) FROM logs
WHERE stream = $4

-- name: sessions_within
-- Of the session whose sub-agents they are.
SELECT 's' AS k, row_number() OVER (ORDER BY page.updated_at DESC, page.id DESC) AS place,
    page.head AS n, page.body, false AS waiting
FROM (
    SELECT s.id, s.updated_at, s.body, l.head FROM sessions s JOIN logs l ON l.stream = s.id
    WHERE s.comparison_id = $1 AND (s.updated_at, s.id) < ($2, $3)
    ORDER BY s.updated_at DESC, s.id DESC LIMIT $4
) page

-- name: sessions_with_children
-- Goes through all of them: for the few who want to see what is not listed.
SELECT 's' AS k, row_number() OVER (ORDER BY page.updated_at DESC, page.id DESC) AS place,
    page.head AS n, page.body, false AS waiting
FROM (
    SELECT s.id, s.updated_at, s.body, l.head FROM sessions s JOIN logs l ON l.stream = s.id
    WHERE (s.comparison_id IS NULL OR starts_with(s.comparison_id, 'ses_'))
        AND s.archived = $1 AND (s.updated_at, s.id) < ($2, $3)
        AND ($4::text IS NULL OR s.workspace_id = $4)
        AND ($6::text[] IS NULL OR s.id IN (
            SELECT w.session_id FROM unnest($6::text[]) WITH ORDINALITY AS q(word, n)
            JOIN search w ON w.words @@ q.word::tsquery
            GROUP BY w.session_id HAVING count(DISTINCT q.n) = cardinality($6::text[])
        ))
    ORDER BY s.updated_at DESC, s.id DESC LIMIT $5
) page
UNION ALL
SELECT 'l', 0, head, NULL, EXISTS (SELECT 1 FROM outbox WHERE workspace_id = $4) FROM logs
WHERE stream = $4

-- name: workspace_more
UNION ALL
SELECT 'w', 0, 0, body, false FROM workspaces WHERE id = $4
UNION ALL
SELECT 'r', row_number() OVER (ORDER BY r.status DESC, r.accepted_at, r.id), 0, r.body, false
FROM (
    SELECT r.status, r.accepted_at, r.id, r.body FROM runs r JOIN sessions s ON s.id = r.session_id
    WHERE r.status IN ('queued', 'running', 'held') AND s.workspace_id = $4 AND s.comparison_id IS NULL
    ORDER BY r.status DESC, r.accepted_at, r.id LIMIT $7
) r

-- name: snapshot
-- As one statement sees it: k says what a row is. The parts are those of an open message.
WITH m AS MATERIALIZED (
    SELECT id, seq, open, body FROM messages WHERE session_id = $1 AND seq > $2 AND seq < $3
    ORDER BY seq DESC LIMIT $4
)
SELECT 's' AS k, l.head AS n, s.body, s.control AS more, NULL AS x, NULL AS y
FROM sessions s JOIN logs l ON l.stream = s.id WHERE s.id = $1
UNION ALL
SELECT 'm', m.seq, m.body, NULL, NULL, m.id FROM m
UNION ALL
SELECT 'p', e.seq, e.body, NULL, e.type, e.run_id FROM m
JOIN events e ON e.stream = $1 AND e.seq > m.seq
WHERE m.open AND e.type IN ('part.started', 'part.delta', 'part.updated')

-- name: snapshot_more
UNION ALL
SELECT 'r', r.accept_number, r.body, NULL, NULL, NULL FROM (
    SELECT accept_number, body FROM runs WHERE session_id = $1
    ORDER BY accept_number DESC LIMIT $5
) r
UNION ALL
SELECT 'r', accept_number, body, NULL, NULL, NULL FROM runs
WHERE session_id = $1 AND status IN ('queued', 'running', 'held')
UNION ALL
SELECT 't', seq, body, NULL, kind, NULL FROM things WHERE session_id = $1 AND open
UNION ALL
SELECT 'c', seq, summary, NULL, through_message_id, through_part_id FROM compactions
WHERE session_id = $1

-- name: background
-- From the message that the last summary ends in; c: that summary, and where it ends.
WITH c AS MATERIALIZED (
    SELECT c.summary, c.through_part_id, m.seq FROM compactions c
    JOIN messages m ON m.session_id = c.session_id AND m.id = c.through_message_id
    WHERE c.session_id = $1 ORDER BY c.seq DESC LIMIT 1
),
m AS MATERIALIZED (
    SELECT id, seq, open, body FROM messages
    WHERE session_id = $1 AND seq >= coalesce((SELECT c.seq FROM c), 0)
)
SELECT 's' AS k, l.head AS n, s.body, s.control AS more, NULL AS x, NULL AS y
FROM sessions s JOIN logs l ON l.stream = s.id WHERE s.id = $1
UNION ALL
SELECT 'm', m.seq, m.body, NULL, NULL, m.id FROM m
UNION ALL
SELECT 'p', e.seq, e.body, NULL, e.type, e.run_id FROM m
JOIN events e ON e.stream = $1 AND e.seq > m.seq
WHERE m.open AND e.type IN ('part.started', 'part.delta', 'part.updated')
UNION ALL
SELECT 'c', c.seq, c.summary, NULL, c.through_part_id, NULL FROM c

-- name: open_message
WITH m AS MATERIALIZED (SELECT id, seq, open, body FROM messages WHERE session_id = $1 AND open)
SELECT 's' AS k, l.head AS n, s.body, s.control AS more, NULL AS x, NULL AS y
FROM sessions s JOIN logs l ON l.stream = s.id WHERE s.id = $1
UNION ALL
SELECT 'm', m.seq, m.body, NULL, NULL, m.id FROM m
UNION ALL
SELECT 'p', e.seq, e.body, NULL, e.type, e.run_id FROM m
JOIN events e ON e.stream = $1 AND e.seq > m.seq
WHERE e.type IN ('part.started', 'part.delta', 'part.updated')

-- name: message_place
SELECT seq FROM messages WHERE session_id = $1 AND id = $2;

-- name: user_message
SELECT body FROM messages WHERE session_id = $1 AND role = 'user' AND ($2::text IS NULL OR id = $2)
ORDER BY seq DESC LIMIT 1;

-- name: run
SELECT r.body, r.accepted_seq, l.head FROM runs r JOIN logs l ON l.stream = r.session_id
WHERE r.id = $1;

-- name: runs_of_session
SELECT body FROM runs WHERE session_id = $1 AND accept_number < $2
    AND ($3::text[] IS NULL OR status = ANY ($3))
ORDER BY accept_number DESC LIMIT $4;

-- name: runs_page
SELECT body FROM runs WHERE (accepted_at, id) < ($1, $2)
ORDER BY accepted_at DESC, id DESC LIMIT $3;

-- name: runs_page_waiting
SELECT body FROM runs WHERE status IN ('queued', 'held') AND (accepted_at, id) < ($1, $2)
ORDER BY accepted_at DESC, id DESC LIMIT $3;

-- name: runs_page_in
SELECT body FROM runs WHERE status = $4 AND (accepted_at, id) < ($1, $2)
ORDER BY accepted_at DESC, id DESC LIMIT $3;

-- name: thing
SELECT body FROM things WHERE kind = $1 AND id = $2;

-- name: things
SELECT body FROM things WHERE session_id = $1 AND kind = $2 ORDER BY seq;

-- name: changes
SELECT body FROM things WHERE kind = 'change' AND id > $1 AND id < $2 ORDER BY seq, id;

-- name: open_things_of_kind
SELECT body FROM things WHERE kind = $1 AND open ORDER BY session_id, seq;

-- name: workspaces
SELECT body FROM workspaces ORDER BY created_at, id;

-- name: workspace
SELECT body FROM workspaces WHERE id = $1;

-- name: put_workspace
SELECT tenuto_put_workspace_1($1, $2, $3, $4, $5, $6) AS said;

-- name: change_workspace
SELECT tenuto_change_workspace_1($1, $2, $3, $4) AS said;

-- name: delete_workspace
SELECT tenuto_delete_workspace_1($1, $2) AS said;

-- name: put_file
SELECT tenuto_put_file_1($1, $2, $3, $4, $5, $6, $7) AS said;

-- name: file
SELECT body FROM files WHERE id = $1;

-- name: file_content
SELECT c.content FROM chunks c WHERE c.file_id = $1 ORDER BY c.n;

-- name: comparison
SELECT body, rev FROM comparisons WHERE id = $1;

-- name: comparisons_page
SELECT body FROM comparisons WHERE (created_at, id) < ($1, $2)
    AND ($3::text IS NULL OR workspace_id = $3)
ORDER BY created_at DESC, id DESC LIMIT $4;

-- name: comparisons_voted
SELECT body FROM comparisons WHERE voted_at IS NOT NULL ORDER BY voted_at, id;

-- name: sessions_by_id
SELECT s.id, s.body, l.head FROM sessions s JOIN logs l ON l.stream = s.id
WHERE s.id = ANY ($1::text[]);

-- name: forget_comparison
SELECT tenuto_forget_comparison_1($1, $2, $3) AS said;

-- name: usage_since
SELECT day, model, kind, sum(runs)::bigint, sum(input_tokens)::bigint, sum(output_tokens)::bigint,
    sum(reasoning_tokens)::bigint, sum(cache_read_tokens)::bigint,
    sum(cache_write_tokens)::bigint, bool_and(exact), sum(cost_usd)
FROM usage
WHERE day >= $1 AND ($2::text IS NULL OR workspace_id = $2) AND ($3::text IS NULL OR principal = $3)
GROUP BY day, model, kind HAVING sum(runs) > 0 ORDER BY day, model, kind;

-- name: kept
SELECT body, rev FROM kept WHERE name = $1;

-- name: keep
SELECT tenuto_keep_1($1, $2, $3, $4) AS said;

-- name: waiting_sessions
SELECT DISTINCT r.session_id FROM runs r JOIN logs l ON l.stream = r.session_id
WHERE r.status = 'queued' AND l.active_run IS NULL
UNION
SELECT stream FROM logs WHERE active_run IS NOT NULL AND owner = 'due' AND deleted_at IS NULL;

-- name: next_unfolded
SELECT session_id, message_id, first, last FROM unfolded
WHERE finished_at < $1 ORDER BY finished_at LIMIT 1;

-- name: parts_between
SELECT seq, type, run_id, body FROM events
WHERE stream = $1 AND seq > $2 AND seq < $3
    AND type IN ('part.started', 'part.delta', 'part.updated')
ORDER BY seq;

-- name: fold
SELECT tenuto_fold_1($1, $2, $3, $4, $5) AS gone;

-- name: forget_answers
DELETE FROM answers WHERE at < $1;

-- name: forget_receipts
DELETE FROM receipts WHERE token < $1;

-- name: forget_files
DELETE FROM files WHERE id IN (SELECT id FROM files WHERE unused_since < $1 LIMIT 20)
    AND unused_since < $1 RETURNING id;

-- name: forget_kept_files
DELETE FROM files WHERE id IN (SELECT id FROM files WHERE id >= $1 AND id < $2 LIMIT 20)
RETURNING id;

-- name: forget_nodes
DELETE FROM nodes WHERE until < clock_timestamp() - interval '7 days';

-- name: deleted_logs
SELECT stream FROM logs WHERE deleted_at < $1 ORDER BY deleted_at;

-- name: delete_some_events
DELETE FROM events WHERE stream = $1 AND seq <= (
    SELECT max(seq) FROM (SELECT seq FROM events WHERE stream = $1 ORDER BY seq LIMIT $2) first
) RETURNING 1;

-- name: delete_log
DELETE FROM logs WHERE stream = $1 AND deleted_at IS NOT NULL RETURNING 1;

-- name: outboxes
SELECT DISTINCT workspace_id FROM outbox;

-- name: beat
INSERT INTO nodes AS n (id, name, version, knows, draining, active_runs, started_at, seen_at, until)
VALUES ($1, $2, $3, $4, $5, $6, $7, clock_timestamp(),
    clock_timestamp() + make_interval(secs => $8::double precision))
ON CONFLICT (id) DO UPDATE SET name = excluded.name, version = excluded.version,
    knows = excluded.knows, draining = excluded.draining, active_runs = excluded.active_runs,
    started_at = excluded.started_at, seen_at = clock_timestamp(),
    until = clock_timestamp() + make_interval(secs => $8::double precision)
RETURNING n.no, n.seen_at, (SELECT coalesce(sum(rev), 0)::bigint FROM kept);

-- name: pulsing
UPDATE nodes SET pulse = true WHERE id = $1 AND NOT pulse;

-- name: farewell
UPDATE nodes SET until = least(until, clock_timestamp()), pulse = false WHERE id = $1;

-- name: living
SELECT id FROM nodes WHERE until > clock_timestamp();

-- name: nodes
SELECT id, name, version, draining, active_runs, started_at, seen_at,
    until > clock_timestamp() AS alive
FROM nodes WHERE seen_at > clock_timestamp() - interval '1 day' ORDER BY started_at, id;

-- name: silent
-- Nodes that say they are alive while nobody holds their lock. Not soon after PostgreSQL itself has
-- started: then everyone has to come back first.
SELECT id, seen_at FROM nodes n
WHERE until > clock_timestamp() AND pulse AND id <> $1
    AND pg_postmaster_start_time() < clock_timestamp() - interval '5 seconds'
    AND NOT EXISTS (
        SELECT 1 FROM pg_locks l
        WHERE l.locktype = 'advisory' AND l.classid = $2::bigint::oid AND l.objid = n.no::bigint::oid
            AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    );

-- name: declare_gone
-- Its connection has gone and it has not been heard of since: it is dead, whatever its lease says.
UPDATE nodes n SET until = clock_timestamp() WHERE id = $1 AND seen_at = $2 AND until > clock_timestamp()
    AND NOT EXISTS (
        SELECT 1 FROM pg_locks l
        WHERE l.locktype = 'advisory' AND l.classid = $3::bigint::oid AND l.objid = n.no::bigint::oid
            AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    )
RETURNING 1;

-- name: predecessors
-- Who was this node before: of its name, and nobody holds its lock any more.
SELECT n.id, n.seen_at FROM nodes n JOIN nodes me ON me.id = $1
WHERE n.id <> me.id AND n.name = me.name AND n.name <> '' AND n.no < me.no
    AND n.until > clock_timestamp() AND n.pulse
    AND NOT EXISTS (
        SELECT 1 FROM pg_locks l
        WHERE l.locktype = 'advisory' AND l.classid = $2::bigint::oid AND l.objid = n.no::bigint::oid
            AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    );

-- name: orphans
SELECT stream, active_run, owner FROM logs l
WHERE active_run IS NOT NULL AND deleted_at IS NULL AND owner IS DISTINCT FROM $1
    AND (owner IS NULL OR owner NOT IN ('parked', 'due'))
    AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.id = l.owner AND n.until > clock_timestamp());

-- name: owned
SELECT stream, active_run, owner FROM logs WHERE active_run IS NOT NULL AND owner = $1;

-- name: lead
INSERT INTO tasks AS t (name, owner, until)
VALUES ($1, $2, clock_timestamp() + make_interval(secs => $3::double precision))
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until
WHERE t.owner = excluded.owner OR t.until < clock_timestamp()
    OR NOT EXISTS (SELECT 1 FROM nodes n WHERE n.id = t.owner AND n.until > clock_timestamp())
RETURNING 1;

-- name: keep_output
WITH gone AS (
    DELETE FROM outputs WHERE session_id = $1 AND name = $2
        AND ((at >= $5 AND at < $6) OR $3 = 0) AND at <> $3
)
INSERT INTO outputs (session_id, name, at, body)
SELECT $1, $2, $3, $4 FROM sessions WHERE id = $1 FOR KEY SHARE
ON CONFLICT (session_id, name, at) DO UPDATE SET body = excluded.body
RETURNING at;

-- name: output
SELECT at, body FROM outputs WHERE session_id = $1 AND name = $2 ORDER BY at;
