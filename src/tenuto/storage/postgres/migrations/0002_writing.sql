-- oldest: 1
-- A decision is one call: every statement of a function sees what was committed before it, so that
-- it can lock, look again and only then write. What it finds wrong it says before it has written
-- anything. A function is never changed: a later version has another name, for nodes of both.

-- Number what waits in the outbox of a workspace, whose advisory lock is held.
CREATE FUNCTION tenuto_number_1(w text, OUT base bigint, OUT n bigint) LANGUAGE plpgsql AS $$
BEGIN
    SELECT l.head INTO base FROM logs l WHERE l.stream = w FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        DELETE FROM outbox o WHERE o.workspace_id = w;
        n := 0;
        RETURN;
    END IF;
    WITH gone AS (DELETE FROM outbox o WHERE o.workspace_id = w RETURNING o.*),
    placed AS (
        INSERT INTO events (stream, seq, type, run_id, about, body)
        SELECT w, base + row_number() OVER (ORDER BY g.id), g.type, g.run_id, g.about, g.body
        FROM gone g RETURNING 1
    )
    SELECT count(*) INTO n FROM placed;
    IF n > 0 THEN
        UPDATE logs l SET head = base + n WHERE l.stream = w;
    END IF;
END $$;

CREATE FUNCTION tenuto_sequence_1(w text, OUT base bigint, OUT n bigint) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(1952804469, hashtext(w));
    SELECT s.base, s.n INTO base, n FROM tenuto_number_1(w) s;
END $$;

-- Everything but the log of a deleted session goes, and what its workspace's log said of it.
CREATE FUNCTION tenuto_remove_1(s text, w text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    spoken text[];
    last bigint;
BEGIN
    DELETE FROM search WHERE session_id = s;
    DELETE FROM runs WHERE session_id = s;
    DELETE FROM messages WHERE session_id = s;
    DELETE FROM things WHERE session_id = s;
    DELETE FROM compactions WHERE session_id = s;
    DELETE FROM unfolded WHERE session_id = s;
    DELETE FROM answers WHERE owner = s;
    DELETE FROM sessions WHERE id = s;
    WITH gone AS (DELETE FROM file_uses WHERE session_id = s RETURNING file_id)
    SELECT array_agg(file_id) INTO spoken FROM gone;
    IF spoken IS NOT NULL THEN
        -- Whoever speaks of one of them next waits here, or was seen by the statement after.
        PERFORM 1 FROM files WHERE id = ANY (spoken) ORDER BY id FOR UPDATE;
        DELETE FROM files f WHERE f.id = ANY (spoken)
            AND NOT EXISTS (SELECT 1 FROM file_uses u WHERE u.file_id = f.id);
    END IF;
    -- First what has no number: a sequencer that is at it is waited for, and its events are seen.
    DELETE FROM outbox WHERE workspace_id = w AND about = s;
    WITH gone AS (DELETE FROM events WHERE about = s AND stream = w RETURNING seq)
    SELECT max(seq) INTO last FROM gone;
    IF last IS NOT NULL THEN
        UPDATE logs SET folded = greatest(folded, last) WHERE stream = w;
    END IF;
END $$;

CREATE FUNCTION tenuto_book_1(booked json, in_slot integer) RETURNS void LANGUAGE sql AS $$
    INSERT INTO usage AS u (day, workspace_id, principal, model, kind, slot, runs, input_tokens,
        output_tokens, reasoning_tokens, cache_read_tokens, cache_write_tokens, exact, cost_usd)
    SELECT b.day, b.workspace_id, b.by, b.model, b.kind, in_slot, sum(b.runs), sum(b.input_tokens),
        sum(b.output_tokens), sum(b.reasoning_tokens), sum(b.cache_read_tokens),
        sum(b.cache_write_tokens), bool_and(b.exact), sum(b.cost_usd)
    FROM json_to_recordset(booked) AS b(day text, workspace_id text, "by" text, model text,
        kind text, runs bigint, input_tokens bigint, output_tokens bigint, reasoning_tokens bigint,
        cache_read_tokens bigint, cache_write_tokens bigint, exact boolean,
        cost_usd double precision)
    GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (day, workspace_id, principal, model, kind, slot) DO UPDATE SET
        runs = u.runs + excluded.runs,
        -- A sum that outgrew an integer would refuse every later one of its day.
        input_tokens = least(u.input_tokens + excluded.input_tokens, 1::bigint << 53),
        output_tokens = least(u.output_tokens + excluded.output_tokens, 1::bigint << 53),
        reasoning_tokens = least(u.reasoning_tokens + excluded.reasoning_tokens, 1::bigint << 53),
        cache_read_tokens = least(u.cache_read_tokens + excluded.cache_read_tokens, 1::bigint << 53),
        cache_write_tokens =
            least(u.cache_write_tokens + excluded.cache_write_tokens, 1::bigint << 53),
        exact = u.exact AND excluded.exact,
        cost_usd = CASE WHEN u.cost_usd IS NULL THEN excluded.cost_usd
            ELSE u.cost_usd + coalesce(excluded.cost_usd, 0) END
$$;

-- The rows of a change, by what is done with them. x, y, a, b: columns as each needs them.
CREATE FUNCTION tenuto_rows_1(p_op text[], p_s text[], p_i text[], p_a bigint[], p_b bigint[],
    p_x text[], p_y text[], p_body bytea[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events (stream, seq, type, run_id, body)
    SELECT r.s, r.a, r.x, r.y, r.body
    FROM unnest(p_op, p_s, p_a, p_x, p_y, p_body) AS r(op, s, a, x, y, body) WHERE r.op = 'event';
    IF 'removed' = ANY (p_op) THEN
        DELETE FROM messages m USING unnest(p_op, p_s, p_i) AS r(op, s, i)
        WHERE r.op = 'removed' AND m.session_id = r.s AND m.id = r.i;
        DELETE FROM compactions c USING unnest(p_op, p_s, p_i) AS r(op, s, i)
        WHERE r.op = 'removed' AND c.session_id = r.s AND c.through_message_id = r.i;
    END IF;
    IF 'removed' = ANY (p_op) OR 'retitled' = ANY (p_op) THEN
        DELETE FROM search w USING unnest(p_op, p_s, p_i) AS r(op, s, i)
        WHERE r.op IN ('removed', 'retitled') AND w.session_id = r.s AND w.message_id = r.i;
    END IF;
    IF 'file' = ANY (p_op) THEN
        INSERT INTO file_uses (session_id, file_id)
        SELECT r.s, r.i FROM unnest(p_op, p_s, p_i) AS r(op, s, i) WHERE r.op = 'file'
        ON CONFLICT DO NOTHING;
        UPDATE files f SET unused_since = NULL FROM unnest(p_op, p_i) AS r(op, i)
        WHERE r.op = 'file' AND f.id = r.i AND f.unused_since IS NOT NULL;
    END IF;
    IF 'new_run' = ANY (p_op) THEN
        INSERT INTO runs (session_id, id, accept_number, accepted_seq, accepted_at, status, body)
        SELECT r.s, r.i, r.a, r.b, r.x, r.y, r.body
        FROM unnest(p_op, p_s, p_i, p_a, p_b, p_x, p_y, p_body) AS r(op, s, i, a, b, x, y, body)
        WHERE r.op = 'new_run';
    END IF;
    IF 'run' = ANY (p_op) THEN
        UPDATE runs u SET status = r.y, body = r.body
        FROM unnest(p_op, p_s, p_i, p_y, p_body) AS r(op, s, i, y, body)
        WHERE r.op = 'run' AND u.session_id = r.s AND u.id = r.i;
    END IF;
    IF 'new_message' = ANY (p_op) THEN
        INSERT INTO messages (session_id, id, seq, open, role, run_id, body)
        SELECT r.s, r.i, r.a, r.b = 1, r.x, r.y, r.body
        FROM unnest(p_op, p_s, p_i, p_a, p_b, p_x, p_y, p_body) AS r(op, s, i, a, b, x, y, body)
        WHERE r.op = 'new_message';
    END IF;
    IF 'message' = ANY (p_op) THEN
        UPDATE messages u SET body = r.body, open = false
        FROM unnest(p_op, p_s, p_i, p_body) AS r(op, s, i, body)
        WHERE r.op = 'message' AND u.session_id = r.s AND u.id = r.i;
    END IF;
    IF 'unfolded' = ANY (p_op) THEN
        INSERT INTO unfolded (session_id, message_id, first, last, finished_at)
        SELECT r.s, r.i, m.seq, r.a, r.x FROM unnest(p_op, p_s, p_i, p_a, p_x) AS r(op, s, i, a, x)
        JOIN messages m ON m.session_id = r.s AND m.id = r.i WHERE r.op = 'unfolded';
    END IF;
    IF 'thing' = ANY (p_op) THEN
        INSERT INTO things (session_id, kind, id, seq, open, body)
        SELECT r.s, r.x, r.i, r.a, r.b = 1, r.body
        FROM unnest(p_op, p_s, p_i, p_a, p_b, p_x, p_body) AS r(op, s, i, a, b, x, body)
        WHERE r.op = 'thing'
        ON CONFLICT (session_id, kind, id) DO UPDATE SET open = excluded.open, body = excluded.body;
    END IF;
    IF 'summary' = ANY (p_op) THEN
        INSERT INTO compactions (session_id, seq, through_message_id, through_part_id, summary)
        SELECT r.s, r.a, r.i, r.x, r.body
        FROM unnest(p_op, p_s, p_i, p_a, p_x, p_body) AS r(op, s, i, a, x, body) WHERE r.op = 'summary';
    END IF;
    IF 'words' = ANY (p_op) THEN
        INSERT INTO search (session_id, message_id, n, words)
        SELECT r.s, r.i, r.a, r.x::tsvector FROM unnest(p_op, p_s, p_i, p_a, p_x) AS r(op, s, i, a, x)
        WHERE r.op = 'words' ON CONFLICT DO NOTHING;
    END IF;
END $$;

-- token: the write's name, found in receipts if it was done. g_*: the sessions, with the rev (-1:
-- new) and, where events are stored, the head that was decided on. c_*: the comparison, likewise.
-- said: done, ok, miss, answered, exists, alive, no_file, no_workspace.
CREATE FUNCTION tenuto_write_1(
    p_token uuid, p_dead text, p_once text[], p_answer bytea,
    g_stream text[], g_rev bigint[], g_expect bigint[], g_head bigint[], g_active text[],
    g_epoch bigint[], g_owner text[], g_deleted text[], g_workspace text[], g_archived boolean[],
    g_comparison text[], g_updated text[], g_body bytea[], g_control bytea[],
    c_id text, c_rev bigint, c_workspace text, c_created text, c_voted text, c_body bytea,
    o_op text[], o_s text[], o_i text[], o_a bigint[], o_b bigint[], o_x text[], o_y text[],
    o_body bytea[], p_claimed text[], p_usage json, p_slot integer,
    OUT said text, OUT what text, OUT base bigint, OUT n bigint
) LANGUAGE plpgsql AS $$
DECLARE
    creating boolean := coalesce(g_rev[1] = -1, c_rev = -1, false);
    workspace text := coalesce(g_workspace[1], c_workspace);
    found_rows bigint;
    lives boolean;
    gone record;
BEGIN
    IF EXISTS (SELECT 1 FROM receipts WHERE token = p_token) THEN
        said := 'done';
        RETURN;
    END IF;
    IF c_id IS NOT NULL AND c_rev >= 0 THEN
        PERFORM 1 FROM comparisons WHERE id = c_id AND rev = c_rev FOR NO KEY UPDATE;
        IF NOT FOUND THEN
            said := CASE WHEN EXISTS (SELECT 1 FROM receipts WHERE token = p_token) THEN 'done'
                ELSE 'miss' END;
            RETURN;
        END IF;
    END IF;
    IF creating THEN
        PERFORM 1 FROM workspaces WHERE id = workspace FOR KEY SHARE;
        IF NOT FOUND THEN
            said := 'no_workspace';
            RETURN;
        END IF;
        SELECT stream INTO what FROM logs WHERE stream = ANY (g_stream) LIMIT 1;
        IF FOUND THEN
            said := CASE WHEN EXISTS (SELECT 1 FROM receipts WHERE token = p_token) THEN 'done'
                ELSE 'exists' END;
            RETURN;
        END IF;
    ELSIF cardinality(g_stream) > 0 THEN
        SELECT count(*) INTO found_rows FROM (
            SELECT 1 FROM logs l
            JOIN unnest(g_stream, g_rev, g_expect) AS g(stream, rev, expect) ON l.stream = g.stream
            WHERE l.rev = g.rev AND (g.expect IS NULL OR l.head = g.expect)
                AND l.deleted_at IS NULL
            ORDER BY l.stream FOR NO KEY UPDATE OF l
        ) locked;
        IF found_rows <> cardinality(g_stream) THEN
            said := CASE WHEN EXISTS (SELECT 1 FROM receipts WHERE token = p_token) THEN 'done'
                ELSE 'miss' END;
            RETURN;
        END IF;
    END IF;
    IF p_dead IS NOT NULL THEN
        -- Locked: a beat that comes now waits until this is stored.
        SELECT until > clock_timestamp() INTO lives FROM nodes WHERE id = p_dead FOR SHARE;
        IF lives THEN
            said := 'alive';
            RETURN;
        END IF;
    END IF;
    IF cardinality(p_claimed) > 0 THEN
        PERFORM 1 FROM files WHERE id = ANY (p_claimed) ORDER BY id FOR KEY SHARE;
        SELECT c INTO what FROM unnest(p_claimed) c
        WHERE NOT EXISTS (SELECT 1 FROM files f WHERE f.id = c) LIMIT 1;
        IF FOUND THEN
            said := 'no_file';
            RETURN;
        END IF;
    END IF;
    IF p_once IS NOT NULL THEN
        INSERT INTO answers (principal, key, digest, at, owner, body)
        VALUES (p_once[1], p_once[2], p_once[3], p_once[4], p_once[5], p_answer)
        ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            said := CASE WHEN EXISTS (SELECT 1 FROM receipts WHERE token = p_token) THEN 'done'
                ELSE 'answered' END;
            RETURN;
        END IF;
    END IF;
    INSERT INTO receipts (token) VALUES (p_token);
    IF c_id IS NOT NULL AND c_rev = -1 THEN
        INSERT INTO comparisons (id, workspace_id, created_at, voted_at, body)
        VALUES (c_id, c_workspace, c_created, c_voted, c_body);
    ELSIF c_id IS NOT NULL THEN
        UPDATE comparisons SET rev = rev + 1, voted_at = c_voted, body = c_body WHERE id = c_id;
    END IF;
    IF creating THEN
        INSERT INTO logs (stream, head, active_run, epoch, owner)
        SELECT g.* FROM unnest(g_stream, g_head, g_active, g_epoch, g_owner) g;
        INSERT INTO sessions
            (id, workspace_id, archived, comparison_id, updated_at, body, control)
        SELECT g.* FROM unnest(g_stream, g_workspace, g_archived, g_comparison, g_updated, g_body,
            g_control) g;
    ELSE
        UPDATE logs l SET rev = l.rev + 1,
            head = CASE WHEN g.expect IS NULL THEN l.head ELSE g.head END,
            ticket = CASE WHEN l.epoch = g.epoch THEN l.ticket ELSE 0 END,
            active_run = g.active, epoch = g.epoch, owner = g.owner, deleted_at = g.deleted
        FROM unnest(g_stream, g_expect, g_head, g_active, g_epoch, g_owner, g_deleted)
            AS g(stream, expect, head, active, epoch, owner, deleted)
        WHERE l.stream = g.stream;
        UPDATE sessions s SET workspace_id = g.workspace, archived = g.archived,
            comparison_id = g.comparison, updated_at = g.updated, body = g.body,
            control = g.control
        FROM unnest(g_stream, g_workspace, g_archived, g_comparison, g_updated, g_body, g_control)
            AS g(stream, workspace, archived, comparison, updated, body, control)
        WHERE s.id = g.stream AND g.body IS NOT NULL;
        FOR gone IN SELECT g.stream, g.workspace FROM unnest(g_stream, g_workspace, g_deleted)
            AS g(stream, workspace, deleted) WHERE g.deleted IS NOT NULL
        LOOP
            PERFORM tenuto_remove_1(gone.stream, gone.workspace);
        END LOOP;
    END IF;
    IF cardinality(o_op) > 0 THEN
        PERFORM tenuto_rows_1(o_op, o_s, o_i, o_a, o_b, o_x, o_y, o_body);
    END IF;
    IF p_usage IS NOT NULL THEN
        BEGIN
            PERFORM tenuto_book_1(p_usage, p_slot);
        EXCEPTION WHEN data_exception OR integrity_constraint_violation THEN
            -- Usage that cannot be written must not keep a run from its ending.
            what := 'usage: ' || SQLERRM;
        END;
    END IF;
    IF 'shared' = ANY (o_op) THEN
        INSERT INTO outbox (workspace_id, type, run_id, about, body)
        SELECT workspace, r.x, r.y, r.s, r.body
        FROM unnest(o_op, o_s, o_x, o_y, o_body)
            WITH ORDINALITY AS r(op, s, x, y, body, place)
        WHERE r.op = 'shared' ORDER BY r.place;
        -- Nobody else at it: number it here. Else whoever is, or comes next, does.
        IF pg_try_advisory_xact_lock(1952804469, hashtext(workspace)) THEN
            SELECT s.base, s.n INTO base, n FROM tenuto_number_1(workspace) s;
        END IF;
    END IF;
    said := 'ok';
END $$;
