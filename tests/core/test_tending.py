"""Jobs, as pure decisions."""

import pytest
from msgspec.structs import replace

from tenuto.core import tending
from tenuto.core.error import Conflict, Fenced
from tenuto.core.event import JobEnded, JobUpdated
from tenuto.core.job import Job, JobEnding, JobPrint, JobState, JobTold
from tenuto.core.tending import INTERRUPTED, STOPPED
from tenuto.core.value import CallId, Instant, JobId, MessageId, NodeId, RunId
from tests.core.little_store import LittleStore, ending

ENDED = JobEnding(state=JobState.ENDED, exit_code=0)


def at_work() -> LittleStore:
    store = LittleStore()
    store.accept("go")
    store.start()
    return store


def start(store: LittleStore, name: str = "job_1") -> Job:
    fence, moment = store.fence(), store.moment()
    job = Job(
        id=JobId(name),
        session_id=store.session.id,
        run_id=fence.run_id,
        call_id=CallId("call_1"),
        name="server",
        command="npm start",
        node=NodeId("node_1"),
        started_at=Instant(moment.now),
    )
    return store.commit(lambda desk: tending.start(desk, fence, job, moment))


def end(store: LittleStore, job: Job, how: JobEnding = ENDED) -> Job | None:
    return store.commit(lambda desk: tending.end(desk, job.id, how, None, store.moment()))


def stopping(store: LittleStore) -> list[str]:
    return [job.id for job in store.desk().open(Job) if job.stopping]


def test_a_run_that_ends_by_itself_leaves_its_jobs() -> None:
    store = at_work()
    start(store)
    store.settle(ending("completed", "end_turn"))
    assert [job.state for job in store.desk().open(Job)] == [JobState.RUNNING]
    assert stopping(store) == []
    store.fold()


def test_a_run_that_is_cancelled_takes_along_the_jobs_that_it_started_and_no_other() -> None:
    store = at_work()
    start(store, "job_1")
    store.settle(ending("completed", "end_turn"))
    store.accept("again")
    store.start()
    start(store, "job_2")
    store.cancel()
    # Whatever the run says of its ending: a tie goes to the cancel.
    store.settle(ending("completed", "end_turn"))
    assert stopping(store) == ["job_2"]
    store.fold()


def test_no_job_starts_once_its_run_is_being_stopped_or_is_over() -> None:
    store = at_work()
    fence = store.fence()
    store.cancel()
    with pytest.raises(Conflict):
        start(store)
    store.settle(ending("cancelled", "user"))
    job = Job(
        id=JobId("late"),
        session_id=store.session.id,
        run_id=fence.run_id,
        call_id=CallId("call_1"),
        name="n",
        command="c",
        node=NodeId("node_1"),
        started_at=store.moment().now,
    )
    with pytest.raises(Fenced):
        store.commit(lambda desk: tending.start(desk, fence, job, store.moment()))


def test_a_session_has_only_so_many_at_once() -> None:
    store = at_work()
    jobs = [start(store, f"job_{n}") for n in range(tending.MOST)]
    with pytest.raises(Conflict, match="stop one of them first"):
        start(store, "one_more")
    end(store, jobs[0])
    start(store, "one_more")


@pytest.mark.parametrize("how", [ENDED, STOPPED, INTERRUPTED])
def test_a_job_ends_once_whoever_says_so(how: JobEnding) -> None:
    store = at_work()
    job = start(store)
    ended = end(store, job, how)
    assert ended is not None and ended.state is how.state and ended.ended_at is not None
    for other in (ENDED, STOPPED, INTERRUPTED):
        assert end(store, job, other) is None
    printed = JobPrint(tail="late", characters=4)
    told = store.commit(lambda desk: tending.tell(desk, job.id, printed, store.moment()))
    assert told is None
    assert len(store.events(JobEnded)) == 1
    store.fold()


def test_a_stop_is_marked_once() -> None:
    store = at_work()
    job = start(store)
    for _ in range(2):
        found = store.commit(lambda desk: tending.stop(desk, lambda _: True, store.moment()))
        assert found == (job.id,)
    assert len(store.events(JobUpdated)) == 1
    end(store, job, STOPPED)
    assert store.commit(lambda desk: tending.stop(desk, lambda _: True, store.moment())) == ()


def test_the_model_is_told_once_of_each_that_it_did_not_ask_about() -> None:
    store = at_work()
    jobs = [start(store, f"job_{n}") for n in range(3)]
    ended = [one for job in jobs if (one := end(store, job)) is not None]
    store.commit(lambda desk: tending.heard(desk, jobs[1].id))
    place = JobTold(message_id=MessageId("msg_1"), part_id=None)

    def mention() -> list[str]:
        told = store.commit(
            lambda desk: tending.mention(desk, store.fence(), ended, place, store.moment())
        )
        assert all(job == replace(ended[int(job.id[-1])], told=place) for job in told)
        return [job.id for job in told]

    assert mention() == ["job_0", "job_2"]
    assert mention() == []
    store.fold()


@pytest.mark.parametrize(
    ("state", "code", "line"),
    [
        (JobState.ENDED, 3, "The job job_1 (server) ended with exit code 3."),
        (JobState.ENDED, -9, "The job job_1 (server) was ended by signal 9."),
        (JobState.STOPPED, None, "The job job_1 (server) was stopped."),
        (
            JobState.INTERRUPTED,
            None,
            "The job job_1 (server) was ended because the server stopped.",
        ),
    ],
)
def test_how_it_ended_is_one_line(state: JobState, code: int | None, line: str) -> None:
    job = replace(start(at_work()), run_id=RunId("run_1"), state=state, exit_code=code)
    assert job.how_it_ended() == line
