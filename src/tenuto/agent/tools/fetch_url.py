"""`fetch_url`: a page of the web, as text."""

import codecs
import json
import re
import tempfile
from typing import IO, Annotated

import anyio
from anyio import to_thread
from msgspec import Meta

from tenuto.agent.tools.built_in import Arguments, BuiltIn
from tenuto.agent.tools.fetching import Answer, fetch, status_text
from tenuto.agent.tools.helper import PAGE, Task, ask
from tenuto.agent.tools.output import capped
from tenuto.ports.tool import Place, ToolFailed

HTML = ("text/html", "application/xhtml+xml")
TEXT = re.compile(
    r"text/.*|application/(.*[+])?(json|xml|yaml|toml|javascript|x-ndjson|x-yaml|x-sh|sql)"
)
CHARSET = re.compile(rb"<meta[^>]{0,200}charset=[\"']?([\w-]+)", re.IGNORECASE)
LOOK_BYTES = 2048
ERROR_CHARACTERS = 2000


class FetchUrlArguments(Arguments):
    url: Annotated[str, Meta(min_length=1, description="An http or https address.")]


class FetchUrl(BuiltIn[FetchUrlArguments]):
    name = "fetch_url"
    about = (
        "Fetch a web page or another text over http or https. HTML comes as readable text with "
        "its links. Redirects are followed."
    )
    takes = FetchUrlArguments
    changes = True

    async def work(self, given: FetchUrlArguments, place: Place) -> str:
        seconds = self.settings.fetch_seconds
        try:
            with anyio.fail_after(seconds):
                answer = await fetch(given.url, self.settings)
        except TimeoutError as error:
            raise ToolFailed(f"{given.url} did not answer within {seconds:g} seconds.") from error
        text = await self._text(answer)
        if answer.status >= 400:
            said = capped(text, ERROR_CHARACTERS)
            raise ToolFailed(f"{given.url} answered {status_text(answer.status)}.\n{said}".strip())
        cut = (
            f"\n[only the first {self.settings.fetch_bytes:,} bytes were read]"
            if answer.cut
            else ""
        )
        heading = f"{answer.url} ({answer.media_type or 'no type given'})"
        return f"{heading}\n\n{capped(text, self.settings.output_characters)}{cut}"

    async def _text(self, answer: Answer) -> str:
        if answer.media_type in HTML:
            return await self._readable(answer)
        untyped = not answer.media_type and b"\0" not in answer.content[:LOOK_BYTES]
        if not untyped and not TEXT.fullmatch(answer.media_type):
            kind = answer.media_type or "binary"
            raise ToolFailed(f"{answer.url} is {kind}, {len(answer.content):,} bytes, not text.")
        return _decoded(answer)

    async def _readable(self, answer: Answer) -> str:
        with await to_thread.run_sync(_stored, _decoded(answer)) as file:
            request = {
                "descriptor": file.fileno(),
                "address": answer.url,
                # One more than is shown, so that the cap is said.
                "limit": self.settings.output_characters * 2,
            }
            found = await ask(
                Task(
                    program=PAGE,
                    request=json.dumps(request),
                    inherited=(file.fileno(),),
                    seconds=self.settings.search_seconds,
                    characters=self.settings.output_characters * 2,
                )
            )
        if not found.whole:
            raise ToolFailed(f"{answer.url} is a page that takes too long to read.")
        return found.text


def _stored(text: str) -> IO[bytes]:
    file = tempfile.TemporaryFile()  # noqa: SIM115 (the caller closes it)
    file.write(text.encode("utf-8", "replace"))
    file.flush()
    return file


def _decoded(answer: Answer) -> str:
    declared = CHARSET.search(answer.content[:LOOK_BYTES])
    charset = answer.charset or (declared[1].decode("ascii", "replace") if declared else "utf-8")
    try:
        return codecs.decode(answer.content, charset, "replace")
    except (LookupError, TypeError, UnicodeError):
        return answer.content.decode("utf-8", "replace")
