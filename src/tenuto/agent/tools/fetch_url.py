"""`fetch_url`: a page of the web, as text; a PDF as what it says, an image to be seen."""

import re
from collections.abc import Mapping
from typing import Annotated, ClassVar
from urllib.parse import urlsplit

import anyio
from msgspec import Meta

from tenuto.agent.attachments.picture import Picture, picture
from tenuto.agent.tools.arguments import Arguments
from tenuto.agent.tools.built_in import BuiltIn
from tenuto.agent.tools.files.errand import Threads
from tenuto.agent.tools.files.seen import SeenFiles
from tenuto.agent.tools.output import spilled
from tenuto.agent.tools.processes.helper import PAGE, HelperTask, ask, held
from tenuto.agent.tools.processes.pdf import Pdfs
from tenuto.agent.tools.settings import ToolSettings
from tenuto.agent.tools.web.charset import codec_for
from tenuto.agent.tools.web.fetching import Fetched, fetch, status_text
from tenuto.core.rule import Subject, about_host
from tenuto.ports.tool import GivenFile, Place, ToolFailed, ToolResult

PDF = b"%PDF-"
HTML = ("text/html", "application/xhtml+xml")
TEXT = re.compile(
    r"text/.*|application/(.*[+])?(json|xml|yaml|toml|javascript|x-ndjson|x-yaml|x-sh|sql)"
)
CHARSET = re.compile(rb"<meta[^>]{0,200}charset=[\"']?([\w-]+)", re.IGNORECASE)
LOOK_BYTES = 2048
ERROR_CHARACTERS = 2000


class FetchUrlArguments(Arguments):
    synonyms: ClassVar[Mapping[str, str]] = {"uri": "url", "link": "url", "address": "url"}

    url: Annotated[str, Meta(min_length=1, description="An http or https address.")]


class FetchUrl(BuiltIn[FetchUrlArguments]):
    name = "fetch_url"
    about = (
        "Fetch a web page or another text over http or https. HTML comes as readable text with "
        "its links, a PDF as its text, and a PNG, JPEG, GIF or WebP image is shown to you if you can "
        "see. Redirects are followed."
    )
    takes = FetchUrlArguments
    changes = True

    def __init__(self, settings: ToolSettings, threads: Threads, seen: SeenFiles) -> None:
        super().__init__(settings, threads, seen)
        self._pdfs = Pdfs()

    async def about_call(self, given: FetchUrlArguments, place: Place) -> Subject:
        try:
            host = urlsplit(given.url.strip()).hostname or ""
        except ValueError:
            host = ""
        return about_host(self.name, host)

    async def work(self, given: FetchUrlArguments, place: Place) -> str | ToolResult:
        seconds = self.settings.fetch_seconds
        try:
            with anyio.fail_after(seconds):
                answer = await fetch(given.url, self.settings)
        except TimeoutError as error:
            raise ToolFailed(f"{given.url} did not answer within {seconds:g} seconds.") from error
        if answer.status >= 400:
            said = await self._text(answer, ERROR_CHARACTERS)
            raise ToolFailed(f"{given.url} answered {status_text(answer.status)}.\n{said}".strip())
        if not answer.cut and (seen := picture(answer.content)):
            return _shown(answer, seen)
        text = spilled(await self._words(answer), self.settings.output_characters, place)
        cut = (
            f"\n[only the first {self.settings.fetch_bytes:,} bytes were read]"
            if answer.cut
            else ""
        )
        return f"{answer.url} ({answer.media_type or 'no type given'})\n\n{text}{cut}"

    async def _words(self, answer: Fetched) -> str:
        """All that it says."""
        if answer.content.startswith(PDF) and not answer.cut:
            return await self._pdfs.text(answer.content)
        # No page says more than it has bytes.
        return await self._text(answer, self.settings.fetch_bytes)

    async def _text(self, answer: Fetched, limit: int) -> str:
        """The answer as text, capped. It is decoded and read in a process that can be stopped."""
        html = answer.media_type in HTML
        untyped = not answer.media_type and b"\0" not in answer.content[:LOOK_BYTES]
        if not html and not untyped and not TEXT.fullmatch(answer.media_type):
            kind = answer.media_type or "binary"
            raise ToolFailed(f"{answer.url} is {kind}, {len(answer.content):,} bytes, not text.")
        with held(answer.content) as file:
            request = {
                "descriptor": file.fileno(),
                "charset": _codec(answer),
                "address": answer.url if html else None,
                "limit": limit,
            }
            found = await ask(
                HelperTask(
                    program=PAGE,
                    request=request,
                    inherited=(file.fileno(),),
                    seconds=self.settings.search_seconds,
                    characters=limit,
                )
            )
        if not found.whole:
            raise ToolFailed(f"{answer.url} is a page that takes too long to read.")
        return found.text


def _shown(answer: Fetched, seen: Picture) -> ToolResult:
    name = urlsplit(answer.url).path.rsplit("/", 1)[-1] or "image"
    return ToolResult(
        text=f"{answer.url}: an image of {seen.width} × {seen.height} pixels.",
        files=(GivenFile(name=name, media_type=seen.media_type, content=answer.content),),
    )


def _codec(answer: Fetched) -> str:
    """How to decode it: as its header says, else as the page itself says, if that can be done."""
    declared = CHARSET.search(answer.content[:LOOK_BYTES])
    named = answer.charset or (declared[1].decode("ascii", "replace") if declared else "")
    return codec_for(named)
