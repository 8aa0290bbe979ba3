-- oldest: 1
-- Writes that are of no session. As in tenuto_write_1: done, ok, or what was found wrong.

CREATE FUNCTION tenuto_answer_1(p_once text[], p_answer bytea) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF p_once IS NULL THEN
        RETURN true;
    END IF;
    INSERT INTO answers (principal, key, digest, at, owner, body)
    VALUES (p_once[1], p_once[2], p_once[3], p_once[4], p_once[5], p_answer)
    ON CONFLICT DO NOTHING;
    RETURN FOUND;
END $$;

CREATE FUNCTION tenuto_put_workspace_1(p_token uuid, p_once text[], p_answer bytea, p_id text,
    p_created text, p_body bytea) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM receipts WHERE token = p_token) THEN
        RETURN 'done';
    END IF;
    IF NOT tenuto_answer_1(p_once, p_answer) THEN
        RETURN CASE WHEN EXISTS (SELECT 1 FROM receipts WHERE token = p_token) THEN 'done'
            ELSE 'answered' END;
    END IF;
    INSERT INTO receipts (token) VALUES (p_token);
    INSERT INTO workspaces (id, created_at, body) VALUES (p_id, p_created, p_body)
    ON CONFLICT (id) DO UPDATE SET created_at = excluded.created_at, body = excluded.body;
    INSERT INTO logs (stream) VALUES (p_id) ON CONFLICT DO NOTHING;
    RETURN 'ok';
END $$;

CREATE FUNCTION tenuto_change_workspace_1(p_token uuid, p_id text, p_before bytea, p_after bytea)
RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM receipts WHERE token = p_token) THEN
        RETURN 'done';
    END IF;
    UPDATE workspaces SET body = p_after WHERE id = p_id AND body = p_before;
    IF NOT FOUND THEN
        -- An earlier sending of this very write may have been what changed it.
        RETURN CASE WHEN EXISTS (SELECT 1 FROM receipts WHERE token = p_token) THEN 'done'
            ELSE 'changed' END;
    END IF;
    INSERT INTO receipts (token) VALUES (p_token);
    RETURN 'ok';
END $$;

CREATE FUNCTION tenuto_delete_workspace_1(p_token uuid, p_id text) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM receipts WHERE token = p_token) THEN
        RETURN 'done';
    END IF;
    -- Whoever makes a session in it holds a share of this row until it is made.
    PERFORM 1 FROM workspaces WHERE id = p_id FOR UPDATE;
    IF NOT FOUND THEN
        RETURN CASE WHEN EXISTS (SELECT 1 FROM receipts WHERE token = p_token) THEN 'done'
            ELSE 'no_workspace' END;
    END IF;
    IF EXISTS (SELECT 1 FROM sessions WHERE workspace_id = p_id AND comparison_id IS NULL)
        OR EXISTS (SELECT 1 FROM comparisons WHERE workspace_id = p_id) THEN
        RETURN 'busy';
    END IF;
    INSERT INTO receipts (token) VALUES (p_token);
    DELETE FROM workspaces WHERE id = p_id;
    DELETE FROM outbox WHERE workspace_id = p_id;
    DELETE FROM logs WHERE stream = p_id;
    DELETE FROM events WHERE stream = p_id;
    RETURN 'ok';
END $$;

CREATE FUNCTION tenuto_put_file_1(p_token uuid, p_once text[], p_answer bytea, p_id text,
    p_body bytea, p_now text, p_chunks bytea[]) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM receipts WHERE token = p_token) THEN
        RETURN 'done';
    END IF;
    IF NOT tenuto_answer_1(p_once, p_answer) THEN
        RETURN CASE WHEN EXISTS (SELECT 1 FROM receipts WHERE token = p_token) THEN 'done'
            ELSE 'answered' END;
    END IF;
    INSERT INTO receipts (token) VALUES (p_token);
    INSERT INTO files (id, body, unused_since) VALUES (p_id, p_body, p_now);
    INSERT INTO chunks (file_id, n, content)
    SELECT p_id, c.n, c.content FROM unnest(p_chunks) WITH ORDINALITY AS c(content, n);
    RETURN 'ok';
END $$;

CREATE FUNCTION tenuto_forget_comparison_1(p_token uuid, p_id text, p_panes text[])
RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM receipts WHERE token = p_token) THEN
        RETURN 'done';
    END IF;
    PERFORM 1 FROM comparisons WHERE id = p_id FOR UPDATE;
    IF NOT FOUND THEN
        RETURN CASE WHEN EXISTS (SELECT 1 FROM receipts WHERE token = p_token) THEN 'done'
            ELSE 'no_comparison' END;
    END IF;
    IF EXISTS (SELECT 1 FROM sessions WHERE id = ANY (p_panes) AND comparison_id IS NOT NULL) THEN
        RETURN 'busy';
    END IF;
    INSERT INTO receipts (token) VALUES (p_token);
    DELETE FROM comparisons WHERE id = p_id;
    DELETE FROM answers WHERE owner = p_id;
    RETURN 'ok';
END $$;

CREATE FUNCTION tenuto_keep_1(p_token uuid, p_name text, p_body bytea, p_rev bigint)
RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM receipts WHERE token = p_token) THEN
        RETURN 'done';
    END IF;
    IF p_rev = 0 THEN
        INSERT INTO kept (name, body, rev) VALUES (p_name, p_body, 1) ON CONFLICT DO NOTHING;
    ELSE
        UPDATE kept SET body = p_body, rev = rev + 1 WHERE name = p_name AND rev = p_rev;
    END IF;
    IF NOT FOUND THEN
        RETURN CASE WHEN EXISTS (SELECT 1 FROM receipts WHERE token = p_token) THEN 'done'
            ELSE 'changed' END;
    END IF;
    INSERT INTO receipts (token) VALUES (p_token);
    RETURN 'ok';
END $$;

CREATE FUNCTION tenuto_fold_1(p_session text, p_message text, p_seq bigint[], p_body bytea[],
    p_gone bigint[]) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM unfolded WHERE session_id = p_session AND message_id = p_message;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    UPDATE events e SET body = m.body FROM unnest(p_seq, p_body) AS m(seq, body)
    WHERE e.stream = p_session AND e.seq = m.seq;
    DELETE FROM events WHERE stream = p_session AND seq = ANY (p_gone);
    IF cardinality(p_seq) > 0 THEN
        UPDATE logs SET folded = greatest(folded, (SELECT max(s) FROM unnest(p_seq) s))
        WHERE stream = p_session;
    END IF;
    RETURN cardinality(p_gone);
END $$;
