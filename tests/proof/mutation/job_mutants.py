"""Mutants of jobs: processes that outlast their stop, endings that are not told or told for ever."""

from tests.proof.mutation.mutant import Edit, mutant

MUTANTS = (
    mutant(
        "jobs that outlast the cancel of their run",
        "A person stops a run, and the server that it started goes on.",
        "core api/jobs",
        Edit(
            "core/settling.py",
            "        events += stopped_with(desk, run, moment)\n",
            "        events += []\n",
        ),
    ),
    mutant(
        "a job after the stop",
        "A run that is being stopped starts one more job, and nobody stops that.",
        "core",
        Edit(
            "core/tending.py",
            "    if desk.control.cancels.reason_for(run):\n",
            "    if False:\n",
        ),
    ),
    mutant(
        "the jobs of everyone",
        "A cancel stops what an earlier run had left to the session.",
        "core api/jobs",
        Edit(
            "core/tending.py",
            "[job for job in desk.open(Job) if job.run_id == run.id]",
            "[*desk.open(Job)]",
        ),
    ),
    mutant(
        "a cancel that does not wait for jobs",
        "The answer says that all is settled while a job's processes still run.",
        "api/jobs",
        Edit(
            "engine/jobs.py",
            "        if run.status is not RunStatus.CANCELLED:\n",
            "        if run.ended:\n",
        ),
    ),
    mutant(
        "jobs of nobody",
        "After a crash a job is said to run, and nothing of it does.",
        "api/jobs",
        Edit("engine/rescuer.py", "        await self._jobs.rescue()\n", ""),
    ),
    mutant(
        "jobs of a session that is gone",
        "A deleted conversation leaves its processes behind.",
        "api/jobs",
        Edit(
            "engine/sessions.py",
            "        await self._jobs.stop_those(session_id, lambda job: True, by=by)\n",
            "",
        ),
    ),
    mutant(
        "an ending told for ever",
        "The model is told in every step that the same job has ended.",
        "core",
        Edit(
            "core/tending.py",
            "if job_id not in jobs)\n",
            "if job_id)\n",
        ),
    ),
    mutant(
        "a stop that only its own node hears",
        "A job goes on that was stopped through another node.",
        "nodes/jobs",
        Edit("engine/jobs.py", "            if job.stopping:\n", "            if False:\n"),
    ),
    mutant(
        "jobs past the rules of shell",
        "What a rule forbids to run is run in the background.",
        "api/jobs",
        Edit(
            "core/rule.py",
            "    names = (subject.tool, *subject.also)\n",
            "    names = (subject.tool,)\n",
        ),
    ),
    mutant(
        "the middle of an output lost",
        "What comes while a piece is written is not kept.",
        "spool",
        Edit(
            "engine/spool.py",
            "self._waiting, self._size = ([rest] if rest else []), len(rest)",
            "self._waiting, self._size = [], 0",
        ),
    ),
    mutant(
        "outputs of other conversations",
        "A model reads what a command printed in somebody else's session.",
        "conformance/outputs",
        Edit(
            "storage/sqlite/queries.sql",
            "SELECT at, body FROM outputs WHERE session_id = :session_id AND name = :output",
            "SELECT at, body FROM outputs WHERE :session_id <> '' AND name = :output",
        ),
    ),
)
