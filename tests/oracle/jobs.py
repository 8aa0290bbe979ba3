"""Jobs as a log tells of them: started by a run at work, changed while they run, over once."""

from tests.oracle.rule import Json, Report, Rule

FIXED = ("id", "session_id", "run_id", "call_id", "name", "command", "cwd", "node", "started_at")
OVER = ("ended", "stopped", "interrupted")


class JobLog:
    def __init__(self, broken: Report) -> None:
        self.jobs: dict[str, Json] = {}
        self._broken = broken

    @property
    def running(self) -> dict[str, Json]:
        return {name: job for name, job in self.jobs.items() if job["state"] == "running"}

    def begin(self, jobs: list[Json]) -> None:
        """Begin again with these."""
        self.jobs = {job["id"]: job for job in jobs}

    def apply(self, event: Json) -> None:
        job = event["job"]
        self.jobs[job["id"]] = job

    def check(self, event: Json, *, active: str | None) -> None:
        """Before it is applied."""
        job, kind = event["job"], event["type"]
        known = self.jobs.get(job["id"])
        if kind == "job.started":
            if known is not None or job["state"] != "running":
                self._broken(Rule.JOB_ONCE, event)
            if not job["run_id"] == event["run_id"] == active:
                self._broken(Rule.JOB_OF_A_RUN, event)
            return
        if known is None or any(known[field] != job[field] for field in FIXED):
            self._broken(Rule.JOB_ONCE, event)
            return
        if kind == "job.ended":
            if known["state"] != "running" or job["state"] not in OVER or not job["ended_at"]:
                self._broken(Rule.JOB_ENDS_ONCE, event)
            return
        # Once it is over, only what the model was told of it is added.
        told = {"told"} if known["state"] in OVER else {"printed", "stopping"}
        if {**known, **{field: job[field] for field in told}} != job:
            self._broken(Rule.JOB_ENDS_ONCE, event)

    def left_by(self, run: Json) -> list[Json]:
        """Jobs of the run that nobody has told to stop."""
        return [
            job
            for job in self.jobs.values()
            if job["run_id"] == run["id"] and job["state"] == "running" and not job["stopping"]
        ]
