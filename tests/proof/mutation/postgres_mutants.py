"""Mutants of the store in PostgreSQL: tickets, receipts, guards and lines."""

from tests.proof.mutation.mutant import Edit, mutant

QUERIES = "storage/postgres/queries.sql"
WRITING = "storage/postgres/migrations/0002_writing.sql"
LIFELINE = "storage/postgres/lifeline.py"
APPENDER = "storage/postgres/appender.py"
DESKS = "storage/postgres/desks.py"
WRITES = "storage/postgres/writes.py"

MUTANTS = (
    mutant(
        "an append without its ticket",
        "Events whose answer was lost are stored again when they are sent again.",
        "postgres",
        Edit(
            QUERIES, "        AND l.ticket = a.before AND l.deleted_at", "        AND l.deleted_at"
        ),
    ),
    mutant(
        "a write without its receipt",
        "A decision whose answer was lost is made and stored again.",
        "postgres",
        Edit(WRITING, "    INSERT INTO receipts (token) VALUES (p_token);\n", ""),
    ),
    mutant(
        "an epoch that is not looked at",
        "A past owner of a run still writes.",
        "conformance/postgres",
        Edit(QUERIES, "l.stream = a.stream AND l.epoch = a.epoch AND", "l.stream = a.stream AND"),
    ),
    mutant(
        "the living are rescued",
        "A node that came back loses a run that it works on.",
        "postgres",
        Edit(WRITING, "        IF lives THEN", "        IF false THEN"),
    ),
    mutant(
        "rings that were lost stay lost",
        "After a broken line a node waits for what others did meanwhile.",
        "postgres",
        Edit(LIFELINE, "            self._sink.resync()\n", "            pass\n"),
    ),
    mutant(
        "a line whose end says nothing",
        "The runs of a killed node wait for the end of its lease.",
        "postgres",
        Edit(LIFELINE, "            if now - since >= SILENT_SECONDS:", "            if False:"),
    ),
    mutant(
        "a decision on what has moved",
        "Two nodes decide about a session at once, and one undoes what the other did.",
        "postgres",
        Edit(
            WRITING, "            WHERE l.rev = g.rev AND (g.expect", "            WHERE (g.expect"
        ),
    ),
    mutant(
        "numbers that others have given",
        "A decision meets a stream of tokens, and its events take their places.",
        "postgres",
        Edit(WRITING, " AND (g.expect IS NULL OR l.head = g.expect)\n", "\n"),
    ),
    mutant(
        "a receipt that came meanwhile",
        "A decision that is sent again while it is still under way is made twice.",
        "postgres",
        Edit(
            WRITING,
            """        IF found_rows <> cardinality(g_stream) THEN
            said := CASE WHEN EXISTS (SELECT 1 FROM receipts WHERE token = p_token) THEN 'done'
                ELSE 'miss' END;""",
            """        IF found_rows <> cardinality(g_stream) THEN
            said := 'miss';""",
        ),
    ),
    mutant(
        "a ring before the commit",
        "Others look before there is something to see, and never again.",
        "postgres",
        Edit(
            APPENDER,
            "        self._reach(Step.COMMITTING)\n",
            "        for e in entries:\n            self._telling.rung(e.stream)\n"
            "        self._reach(Step.COMMITTING)\n",
        ),
    ),
    mutant(
        "a decision that does not ring",
        "A node hears of what others decided by chance, seconds later.",
        "postgres",
        Edit(
            "storage/postgres/telling.py",
            "            self._ringer.ring_changed(session_id)\n",
            "",
        ),
    ),
    mutant(
        "gone at the first look",
        "A node whose line has to be opened again loses its runs.",
        "postgres",
        Edit(LIFELINE, "            if now - since >= SILENT_SECONDS:", "            if True:"),
    ),
    mutant(
        "gone without ever having held a lock",
        "A node that has just come is taken for dead.",
        "postgres",
        Edit(QUERIES, "WHERE until > clock_timestamp() AND pulse AND id <> $1", "WHERE id <> $1"),
    ),
    mutant(
        "one of the same name is gone",
        "A node that starts beside another of its name ends what that one works on.",
        "postgres",
        Edit(
            QUERIES,
            "seen_at = $2 AND until > clock_timestamp()\n    AND NOT EXISTS (",
            "seen_at = $2 AND until > clock_timestamp()\n    AND 2 IS DISTINCT FROM (",
        ),
        Edit(
            QUERIES,
            "AND n.pulse\n    AND NOT EXISTS (",
            "AND n.pulse\n    AND 2 IS DISTINCT FROM (",
        ),
    ),
    mutant(
        "who starts again waits for itself",
        "After a crash of the only node its runs say running for seconds.",
        "postgres",
        Edit(LIFELINE, "            await self._bury(node, seen_at)\n\n", "            pass\n\n"),
    ),
    mutant(
        "the clock of the node",
        "On a machine whose clock is wrong receipts are forgotten while they are needed.",
        "postgres",
        Edit(WRITES, "        self._ahead = now - time.time()", "        self._ahead = 0.0"),
    ),
    mutant(
        "a reader who does not number",
        "A session has changed, and its workspace's log does not say so yet.",
        "postgres",
        Edit(DESKS, '            if not rows[0]["waiting"]:', "            if True:"),
    ),
    mutant(
        "a doubt told as a no",
        "What may be stored is said not to be, and is sent again under another name.",
        "postgres",
        Edit(
            APPENDER,
            "        if entry.doubt:\n            return InDoubt",
            "        if False:\n            return InDoubt",
        ),
    ),
    mutant(
        "a ticket that is not believed",
        "An append that was stored is told as one of which nobody knows.",
        "postgres",
        Edit(
            APPENDER, '            elif row["ticket"] == entry.ticket:', "            elif False:"
        ),
    ),
    mutant(
        "a line that is deaf for ever",
        "A node no longer hears the others, and does not notice.",
        "postgres",
        Edit(LIFELINE, "time.monotonic() - self._heard > DEAF_SECONDS:", "False:"),
    ),
    mutant(
        "a node that hears itself",
        "Each commit is read again by the one who made it.",
        "postgres",
        Edit(
            LIFELINE,
            "            self._heard = time.monotonic()\n            return\n",
            "            self._heard = time.monotonic()\n",
        ),
    ),
    mutant(
        "a leader for ever",
        "After a node is gone nobody tidies up.",
        "postgres",
        Edit(
            QUERIES,
            "WHERE t.owner = excluded.owner OR t.until < clock_timestamp()\n    OR NOT EXISTS (SELECT 1 FROM nodes n WHERE n.id = t.owner AND n.until > clock_timestamp())\n",
            "WHERE t.owner = excluded.owner OR t.until < clock_timestamp()\n",
        ),
    ),
    mutant(
        "a ring that fails is forgotten",
        "Other nodes go by settings that are over, for as long as nothing else is rung.",
        "postgres",
        Edit("storage/postgres/ringer.py", "                self._put_back(taken)\n", ""),
    ),
    mutant(
        "a beat that does not look",
        "What was kept by a node that died before it rang is never heard of.",
        "heart",
        Edit(
            "engine/heart.py",
            "            for tell in self.on_kept:\n",
            "            for tell in ():\n",
        ),
    ),
    mutant(
        "every node by its own clock",
        "What a node with a wrong clock does is an hour away from what all others did.",
        "nodes/clock",
        Edit(
            "wiring/server.py",
            "AgreedClock(SystemClock()) if settings.is_shared else SystemClock()",
            "SystemClock()",
        ),
    ),
)
