"""`read_job`: what a job printed since it was last read, perhaps after waiting for it."""

import re
import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Annotated, ClassVar

import anyio
from msgspec import UNSET, Meta, UnsetType

from tenuto.agent.tools.arguments import Arguments
from tenuto.agent.tools.built_in import BuiltIn
from tenuto.agent.tools.files.errand import Threads
from tenuto.agent.tools.files.seen import SeenFiles
from tenuto.agent.tools.files.walking import Survey, look_through
from tenuto.agent.tools.output import whole_at
from tenuto.agent.tools.settings import ToolSettings
from tenuto.core.job import JobState
from tenuto.core.value import JobId
from tenuto.ports.job import JobReading
from tenuto.ports.tool import Parallel, Place, ToolResult

PATTERN_SECONDS = 30.0
"""Waited for a line if nothing else is said."""
MOST_SECONDS = 600.0
PAUSE_SECONDS = 0.2
"""Between two looks at one that prints all the time."""
MOST_PLACES = 1_000


class ReadJobArguments(Arguments):
    synonyms: ClassVar[Mapping[str, str]] = {
        "job_id": "id",
        "job": "id",
        "timeout": "wait",
        "seconds": "wait",
        "regex": "pattern",
        "until": "pattern",
    }

    id: Annotated[str, Meta(description="The job, as start_job named it.")]
    wait: (
        Annotated[
            float,
            Meta(ge=0, description="Seconds to wait until it has ended or a line matches."),
        ]
        | UnsetType
    ) = UNSET
    pattern: (
        Annotated[
            str,
            Meta(
                min_length=1,
                max_length=1000,
                description="A regular expression: return as soon as a line that it printed since "
                "the last reading matches. Waits 30 seconds unless `wait` says otherwise.",
            ),
        ]
        | UnsetType
    ) = UNSET


class ReadJob(BuiltIn[ReadJobArguments]):
    name = "read_job"
    about = (
        "Read what a job has printed since you last read it, and how it stands. With `wait`, return "
        "when it has ended or so many seconds are over; with `pattern`, also when a line matches: "
        "so you need not sleep and look again."
    )
    takes = ReadJobArguments

    def __init__(self, settings: ToolSettings, threads: Threads, seen: SeenFiles) -> None:
        super().__init__(settings, threads, seen)
        self.parallel = Parallel.WAITING
        self._places: OrderedDict[tuple[str, str], int] = OrderedDict()
        """How far each job was read."""

    async def work(self, given: ReadJobArguments, place: Place) -> ToolResult:
        job_id, key = JobId(given.id.strip()), (place.session_id, given.id.strip())
        reading = await self._until(given, place, job_id, after=self._places.get(key, 0))
        self._places[key] = reading.end
        self._places.move_to_end(key)
        while len(self._places) > MOST_PLACES:
            self._places.popitem(last=False)
        await place.jobs.know(reading.job)
        text = self._told(reading)
        return ToolResult(text=text, details={"job_id": job_id, "state": reading.job.state})

    async def _until(
        self, given: ReadJobArguments, place: Place, job_id: JobId, *, after: int
    ) -> JobReading:
        usual = 0.0 if given.pattern is UNSET else PATTERN_SECONDS
        seconds = min(usual if given.wait is UNSET else given.wait, MOST_SECONDS)
        until = time.monotonic() + seconds
        reading = await place.jobs.read(job_id, after=after, seconds=0)
        looked = -1
        while reading.job.state is JobState.RUNNING:
            if given.pattern is not UNSET and reading.end != looked:
                looked = reading.end
                if await self._matches(given.pattern, reading.text):
                    break
            left = until - time.monotonic()
            if left <= 0:
                break
            more = await place.jobs.read(job_id, after=reading.end, seconds=left)
            reading = _joined(reading, more)
            await anyio.sleep(min(PAUSE_SECONDS, max(0.0, until - time.monotonic())))
        return reading

    async def _matches(self, pattern: str, text: str) -> bool:
        if re.escape(pattern) == pattern.replace(" ", "\\ "):
            return pattern in text
        # In a process of its own: a pattern may take for ever.
        asked = Survey(path="output", glob="**", pattern=pattern, names_only=True)
        return bool(await look_through(text.encode(), asked, self.settings))

    def _told(self, reading: JobReading) -> str:
        limit = self.settings.output_characters
        text = reading.text.rstrip("\n")
        said = [reading.job.how_it_ended()]
        if len(text) > limit or (reading.at and not reading.text):
            said.append(whole_at(reading.job.id))
        if len(text) > limit:
            said.append(f"[{len(text) - limit:,} characters before this are left out]")
        said.append(text[-limit:] or "(nothing new)")
        return "\n".join(said)


def _joined(before: JobReading, more: JobReading) -> JobReading:
    """If something came between that is no longer at hand, only what follows it."""
    if more.at != before.end:
        return more
    return JobReading(job=more.job, text=before.text + more.text, at=before.at)
