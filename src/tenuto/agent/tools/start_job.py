"""`start_job`: run a command in the background."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType

from tenuto.agent.tools.arguments import Arguments
from tenuto.agent.tools.built_in import BuiltIn
from tenuto.agent.tools.processes.command_line import folder_of, must_be_a_command
from tenuto.core.rule import Subject, about_command
from tenuto.core.text import cut
from tenuto.ports.job import JobWish
from tenuto.ports.tool import Place, ToolResult

NAME_CHARACTERS = 80
FIRST_SECONDS = 0.5
"""A command that cannot even begin says so by then."""


class StartJobArguments(Arguments):
    synonyms: ClassVar[Mapping[str, str]] = {
        "cmd": "command",
        "script": "command",
        "title": "name",
        "workdir": "cwd",
        "working_dir": "cwd",
        "working_directory": "cwd",
        "directory": "cwd",
    }

    command: Annotated[str, Meta(description="What to run, as one would type it into a shell.")]
    name: Annotated[str, Meta(description="What to call it: dev server.")] | UnsetType = UNSET
    cwd: Annotated[
        str, Meta(description="The folder to run it in, relative to the workspace's.")
    ] = "."


class StartJob(BuiltIn[StartJobArguments]):
    name = "start_job"
    about = (
        "Start a command in the background: a server, a watcher, a long build or test. It goes on "
        "while you do other things, and after your answer, until it ends or is stopped. read_job "
        "reads what it prints and waits for a line or for its end; stop_job ends it. You are told "
        "when it has ended."
    )
    takes = StartJobArguments
    changes = True

    async def about_call(self, given: StartJobArguments, place: Place) -> Subject:
        # Whoever may not run it may not run it in the background either.
        return about_command(self.name, given.command, also=("shell",))

    async def work(self, given: StartJobArguments, place: Place) -> ToolResult:
        must_be_a_command(given.command)
        data = self.settings.data
        await self.threads.run(lambda _: folder_of(place.folder, given.cwd, data))
        first_line = given.command.strip().splitlines()[0]
        name = first_line if given.name is UNSET or not given.name.strip() else given.name.strip()
        wish = JobWish(
            call_id=place.call_id,
            workspace=place.folder,
            command=given.command,
            name=cut(name, NAME_CHARACTERS),
            cwd=given.cwd,
        )
        job = await place.jobs.start(wish)
        reading = await place.jobs.read(job.id, after=0, seconds=FIRST_SECONDS)
        said = [f"Started the job {job.id}. {reading.job.how_it_ended()}"]
        said += [cut(reading.text.rstrip("\n"), self.settings.output_characters)] * bool(
            reading.text
        )
        await place.jobs.know(reading.job)
        return ToolResult(text="\n".join(said), details={"job_id": job.id})
