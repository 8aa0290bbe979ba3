"""`list_files`: the names of files, by a glob."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from msgspec import Meta

from tenuto.agent.tools.arguments import FOLDERS, Arguments
from tenuto.agent.tools.built_in import BuiltIn
from tenuto.agent.tools.files.walking import Survey, survey
from tenuto.ports.tool import Place


class ListFilesArguments(Arguments):
    synonyms: ClassVar[Mapping[str, str]] = {**FOLDERS, "glob": "pattern"}

    path: Annotated[str, Meta(description="The folder to begin in.")] = "."
    pattern: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=1000,
            description="A glob, relative to path: *.py, src/**/*.{ts,tsx}. "
            "One without a slash finds names at any depth.",
        ),
    ] = "**"


class ListFiles(BuiltIn[ListFilesArguments]):
    name = "list_files"
    about = (
        "List the files of a folder and of all folders in it, sorted. Where there are too many, deep "
        "folders come with the number of their files. Leaves out .git, "
        "node_modules, .venv, __pycache__ and what .gitignore names, unless path is inside one."
    )
    takes = ListFilesArguments

    async def work(self, given: ListFilesArguments, place: Place) -> str:
        asked = Survey(path=given.path, glob=given.pattern)
        found = await survey(
            asked, lambda path: self.locate(place, path), self.threads, self.settings
        )
        return found or "No file matches."
