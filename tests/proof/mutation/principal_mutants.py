"""Mutants of who is who: a past that names the wrong one, and eyes that see too much."""

from tests.proof.mutation.mutant import Edit, mutant

MUTANTS = (
    mutant(
        "who cancelled is forgotten before the run ends",
        "A run that somebody cancelled ends as if the server had done it by itself.",
        "principal",
        Edit("core/settling.py", "by=desk.control.cancels.by_whom(run)", "by=moment.by"),
    ),
    mutant(
        "a key is everyone's",
        "A request is answered with what another principal asked under the same key.",
        "principal",
        Edit(
            "storage/sqlite/queries.sql", "WHERE principal = :by AND key = :key", "WHERE key = :key"
        ),
    ),
    mutant(
        "all usage is the owner's",
        "What somebody used is not found under their name.",
        "principal",
        Edit("core/day_usage.py", "Booking(by=by, usage", "Booking(by=OWNER.id, usage"),
        Edit(
            "core/day_usage.py",
            "from tenuto.core.run import MOST_TOKENS, Mode, Run, Usage\n",
            "from tenuto.core.principal import OWNER\n"
            "from tenuto.core.run import MOST_TOKENS, Mode, Run, Usage\n",
        ),
    ),
    mutant(
        "a cancel stops before it looks",
        "Whoever knows an id can stop what they may not see.",
        "stops",
        Edit(
            "engine/stops.py",
            "        # Whoever sees everything need not look",
            "        self._coordinator.stop_now(session_id, reason)\n"
            "        # Whoever sees everything need not look",
        ),
    ),
    mutant(
        "a stream around the view",
        "A client follows a log that it may not see.",
        "api/principal",
        Edit(
            "api/streams.py",
            "head = (await self._sees.session(session_id)).head",
            "head = 0",
        ),
    ),
)
