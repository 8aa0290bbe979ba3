"""`stop_job`: end a job, to its last process."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from msgspec import Meta

from tenuto.agent.tools.arguments import Arguments
from tenuto.agent.tools.built_in import BuiltIn
from tenuto.agent.tools.files.errand import Threads
from tenuto.agent.tools.files.seen import SeenFiles
from tenuto.agent.tools.settings import ToolSettings
from tenuto.core.value import JobId
from tenuto.ports.tool import Parallel, Place, ToolResult


class StopJobArguments(Arguments):
    synonyms: ClassVar[Mapping[str, str]] = {"job_id": "id", "job": "id"}

    id: Annotated[str, Meta(description="The job, as start_job named it.")]


class StopJob(BuiltIn[StopJobArguments]):
    name = "stop_job"
    about = "Stop a job, with everything that it has started, and return its last lines."
    takes = StopJobArguments

    def __init__(self, settings: ToolSettings, threads: Threads, seen: SeenFiles) -> None:
        super().__init__(settings, threads, seen)
        self.parallel = Parallel.NEVER

    async def work(self, given: StopJobArguments, place: Place) -> ToolResult:
        job = await place.jobs.stop(JobId(given.id.strip()))
        await place.jobs.know(job)
        text = "\n".join([job.how_it_ended(), job.printed.tail.rstrip("\n")]).rstrip("\n")
        return ToolResult(text=text, details={"job_id": job.id, "state": job.state})
