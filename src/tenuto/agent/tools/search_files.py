"""`search_files`: lines that match a regular expression."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from msgspec import Meta

from tenuto.agent.tools.arguments import FOLDERS, PATHS, Arguments
from tenuto.agent.tools.built_in import BuiltIn
from tenuto.agent.tools.files.walking import Survey, look_through, survey
from tenuto.agent.tools.output import OUTPUT
from tenuto.ports.tool import Place


class SearchFilesArguments(Arguments):
    synonyms: ClassVar[Mapping[str, str]] = {
        **PATHS,
        **FOLDERS,
        "query": "pattern",
        "regex": "pattern",
        "include": "glob",
        "file_pattern": "glob",
    }

    pattern: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=1000,
            description="A regular expression in Python's syntax, looked for line by line.",
        ),
    ]
    path: Annotated[
        str,
        Meta(
            description="The folder to begin in, one file, or `output:ID`: all that a call or a job printed."
        ),
    ] = "."
    glob: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=1000,
            description="Only files that match, relative to path: *.py, docs/**/*.md. "
            "One without a slash finds names at any depth.",
        ),
    ] = "**"
    context: Annotated[
        int, Meta(ge=0, le=20, description="Lines to show before and after each match.")
    ] = 0
    names_only: Annotated[bool, Meta(description="Only the names of files that have a match.")] = (
        False
    )


class SearchFiles(BuiltIn[SearchFilesArguments]):
    name = "search_files"
    about = (
        "Find lines that match a regular expression, as path:line: text. Leaves out binary files, "
        ".git, node_modules, .venv, __pycache__ and what .gitignore names."
    )
    takes = SearchFilesArguments

    async def work(self, given: SearchFilesArguments, place: Place) -> str:
        asked = Survey(
            path=given.path,
            glob=given.glob,
            pattern=given.pattern,
            context=given.context,
            names_only=given.names_only,
        )
        if given.path.startswith(OUTPUT):
            printed = await place.printed(given.path.removeprefix(OUTPUT))
            found = await look_through(printed.encode(), asked, self.settings)
        else:
            found = await survey(
                asked, lambda path: self.locate(place, path), self.threads, self.settings
            )
        return found or "No line matches."
