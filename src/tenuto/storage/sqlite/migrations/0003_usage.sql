-- What runs used, by the day on which they ended. It stays when their sessions are deleted.
-- model is empty for what is hidden; cost_usd is NULL where no price is known.
CREATE TABLE usage (
    day TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    model TEXT NOT NULL,
    runs INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    exact INTEGER NOT NULL,
    cost_usd REAL,
    PRIMARY KEY (day, workspace_id, model)
) STRICT, WITHOUT ROWID;

INSERT INTO usage
SELECT substr(run ->> 'finished_at', 1, 10), workspace_id, COALESCE(run ->> 'model', ''), COUNT(*),
    SUM(run ->> '$.usage.input_tokens'), SUM(run ->> '$.usage.output_tokens'),
    SUM(run ->> '$.usage.reasoning_tokens'), MIN(run ->> '$.usage.exact'),
    SUM(run ->> '$.usage.cost_usd')
FROM (
    SELECT CAST(runs.body AS TEXT) AS run, sessions.workspace_id
    FROM runs JOIN sessions ON sessions.id = runs.session_id
    WHERE runs.status NOT IN ('queued', 'running')
)
WHERE run ->> 'started_at' IS NOT NULL
GROUP BY 1, 2, 3;
