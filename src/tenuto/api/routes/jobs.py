"""Jobs: commands in the background, of a session."""

from starlette.types import ASGIApp

from tenuto.api.call import Call, answer
from tenuto.api.endpoint import Endpoint
from tenuto.api.routes.outputs import text_of
from tenuto.core.job import Job
from tenuto.core.value import JobId, Value


class JobList(Value):
    jobs: tuple[Job, ...]


async def listing(call: Call) -> ASGIApp:
    await call.sees.session(call.session_id)
    return answer(JobList(jobs=tuple(await call.sees.things(call.session_id, Job))))


async def one(call: Call) -> ASGIApp:
    return answer(await call.sees.thing(Job, call.path("id")))


async def output(call: Call) -> ASGIApp:
    job = await call.sees.thing(Job, call.path("id"))
    return text_of(await call.to.engine.jobs.output(job))


async def stop(call: Call) -> ASGIApp:
    return answer(await call.to.engine.jobs.stop(JobId(call.path("id")), by=call.who))


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/api/sessions/{id}/jobs",
        handler=listing,
        tag="jobs",
        summary="A session's jobs, oldest first",
        gives=JobList,
        codes=("not_found",),
    ),
    Endpoint(
        method="GET",
        path="/api/jobs/{id}",
        handler=one,
        tag="jobs",
        summary="A job",
        gives=Job,
        codes=("not_found",),
    ),
    Endpoint(
        method="GET",
        path="/api/jobs/{id}/output",
        handler=output,
        tag="jobs",
        summary="All that is kept of what a job printed",
        gives=bytes,
        media=("text/plain",),
        codes=("not_found",),
    ),
    Endpoint(
        method="POST",
        path="/api/jobs/{id}/stop",
        handler=stop,
        tag="jobs",
        summary="Stop a job, to its last process; the job as it ended",
        gives=Job,
        codes=("not_found",),
    ),
)
