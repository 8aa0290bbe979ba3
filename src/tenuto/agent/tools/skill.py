"""`skill`: what the folder's people wrote down for a kind of task, read when it is needed."""

import os
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from tenuto.agent.guides import Guides, Skill
from tenuto.agent.tools.arguments import Arguments, read_arguments
from tenuto.agent.tools.built_in import schema_of
from tenuto.core.rule import Subject
from tenuto.ports.model import ToolSpec
from tenuto.ports.tool import Parallel, Place, Site, Tool, ToolFailed, ToolResult


class SkillArguments(Arguments):
    synonyms: ClassVar[Mapping[str, str]] = {"skill": "name"}

    name: Annotated[str, Meta(description="The skill's name, as it is listed.")]


class SkillTool:
    """Implements `Tool`."""

    changes = False
    parallel = Parallel.LOOKING
    spec = ToolSpec(
        name="skill",
        description="Read a skill: how the people of this folder do a kind of task. Do so before "
        "you begin such a task.",
        parameters=schema_of(SkillArguments),
    )

    def __init__(self, guides: Guides) -> None:
        self._guides = guides

    async def subject(self, arguments: dict[str, Any], place: Place) -> Subject:
        return Subject(tool="skill")

    async def run(self, arguments: dict[str, Any], place: Place) -> ToolResult:
        try:
            given, _ = read_arguments(arguments, SkillArguments)
        except msgspec.ValidationError as error:
            raise ToolFailed(f"Wrong arguments for skill: {error}.") from error
        skills = await self._guides.skills(place.folder)
        found = next((one for one in skills if one.name == given.name), None)
        if found is None:
            names = ", ".join(one.name for one in skills) or "none"
            raise ToolFailed(f"There is no skill {given.name!r}. The skills are: {names}.")
        return ToolResult(text=told(found), details={"path": found.path})


class SkillTools:
    """Implements `Tools`: for runs in a folder that has skills."""

    def __init__(self, guides: Guides) -> None:
        self._guides = guides
        self._tool = SkillTool(guides)

    def known(self) -> Sequence[Tool]:
        return (self._tool,)

    async def for_run(self, site: Site) -> Sequence[Tool]:
        return (self._tool,) if await self._guides.skills(site.folder) else ()


def told(skill: Skill) -> str:
    return (
        f"The skill {skill.name}; its files are in {os.path.dirname(skill.path)}/:\n\n{skill.body}"
    )
