-- oldest: 1
-- comparison_id is set while the session is part of something, and not listed without it: a pane of a
-- comparison, or a sub-agent of the session with this id.
CREATE INDEX IF NOT EXISTS sessions_within ON sessions (comparison_id, updated_at, id)
    WHERE comparison_id IS NOT NULL;

-- As tenuto_write_1, of sessions of which one is not there yet: it is made with the rev and the head
-- 0 that it has among the others, or nothing is done at all.
CREATE FUNCTION tenuto_write_beside_1(
    p_new text,
    p_token uuid, p_dead text, p_once text[], p_answer bytea, g_stream text[], g_rev bigint[],
    g_expect bigint[], g_head bigint[], g_active text[], g_epoch bigint[], g_owner text[],
    g_deleted text[], g_workspace text[], g_archived boolean[], g_comparison text[], g_updated
    text[], g_body bytea[], g_control bytea[], c_id text, c_rev bigint, c_workspace text,
    c_created text, c_voted text, c_body bytea, o_op text[], o_s text[], o_i text[], o_a
    bigint[], o_b bigint[], o_x text[], o_y text[], o_body bytea[], p_claimed text[], p_usage
    json, p_slot integer,
    OUT said text, OUT what text, OUT base bigint, OUT n bigint
) LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM receipts WHERE token = p_token) THEN
        said := 'done';
        RETURN;
    END IF;
    BEGIN
        INSERT INTO logs (stream) VALUES (p_new);
        INSERT INTO sessions (id, workspace_id, archived, updated_at, body, control)
        VALUES (p_new, '', false, '', '', '');
        SELECT w.said, w.what, w.base, w.n INTO said, what, base, n FROM tenuto_write_1(
            p_token, p_dead, p_once, p_answer, g_stream, g_rev, g_expect, g_head, g_active,
            g_epoch, g_owner, g_deleted, g_workspace, g_archived, g_comparison, g_updated,
            g_body, g_control, c_id, c_rev, c_workspace, c_created, c_voted, c_body, o_op,
            o_s, o_i, o_a, o_b, o_x, o_y, o_body, p_claimed, p_usage, p_slot
        ) w;
        IF said <> 'ok' THEN
            RAISE EXCEPTION USING ERRCODE = 'TN001';
        END IF;
    EXCEPTION WHEN SQLSTATE 'TN001' THEN
        -- What it was made of is undone by this, and what was said of it is not.
        NULL;
    END;
END $$;
