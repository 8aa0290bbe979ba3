"""Logs that break a rule of jobs."""

from tests.oracle.broken import Break, at_work, last
from tests.oracle.rule import Rule
from tests.oracle.sample import SampleLog


def start_a_job_twice(sample: SampleLog) -> None:
    at_work(sample)
    sample.job("a", "running")
    sample.job("a", "running")


def start_a_job_of_no_run(sample: SampleLog) -> None:
    at_work(sample)
    sample.job("a", "running")
    last(sample, "job.started")["job"]["run_id"] = "other"


def run_another_command(sample: SampleLog) -> None:
    at_work(sample)
    sample.job("a", "running", "printing")
    last(sample, "job.updated")["job"]["command"] = "other"


def end_a_job_twice(sample: SampleLog) -> None:
    at_work(sample)
    sample.job("a", "running", "ended", "stopped")


def print_after_the_job(sample: SampleLog) -> None:
    at_work(sample)
    sample.job("a", "running", "ended", "printing")


def leave_a_job(sample: SampleLog) -> None:
    at_work(sample)
    sample.job("a", "running", "printing")
    sample.finish("a", "cancelled", "user")


BROKEN_JOBS: list[tuple[Rule, Break]] = [
    (Rule.JOB_ONCE, start_a_job_twice),
    (Rule.JOB_OF_A_RUN, start_a_job_of_no_run),
    (Rule.JOB_ONCE, run_another_command),
    (Rule.JOB_ENDS_ONCE, end_a_job_twice),
    (Rule.JOB_ENDS_ONCE, print_after_the_job),
    (Rule.JOBS_STOP, leave_a_job),
]
