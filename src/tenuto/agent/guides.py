"""Guides: what people put into a folder for agents: instructions, skills and commands."""

import os
import re
from pathlib import Path

from tenuto.agent.surroundings import instructions_in, read_in
from tenuto.agent.tools.files.errand import Threads
from tenuto.agent.tools.files.folder import locate, opened_folder
from tenuto.agent.tools.files.vault import vault_at
from tenuto.core.session import Workspace
from tenuto.core.text import cut, whole
from tenuto.core.value import Value
from tenuto.ports.command import Guide
from tenuto.ports.tool import ToolFailed

SKILLS = ".agents/skills"
COMMANDS = ".agents/commands"
SKILL_FILE = "SKILL.md"
GUIDE_BYTES = 64_000
MOST = 200
"""Of each kind; the others are not looked at."""
ABOUT_CHARACTERS = 1_000
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
FRONT = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
FIELD = re.compile(r"^(name|description)[ \t]*:[ \t]*(.*)$", re.MULTILINE)
ARGUMENTS = "$ARGUMENTS"


class Skill(Value):
    """Knowledge that is read when it is needed."""

    name: str
    about: str
    path: str
    body: str


class Guides:
    """Implements `Commands`: those of the folder."""

    def __init__(self, threads: Threads, data: Path | None = None) -> None:
        self._threads = threads
        self._data = data

    async def expand(self, workspace: Workspace, folder: Path, name: str, words: str) -> str | None:
        return await self._threads.run(lambda errand: self._expanded(folder, name, words))

    async def guides(self, workspace: Workspace, folder: Path) -> tuple[Guide, ...]:
        return await self._threads.run(lambda errand: self._listed(folder))

    async def skills(self, folder: Path) -> tuple[Skill, ...]:
        return await self._threads.run(lambda errand: skills_in(folder, self._data))

    def _expanded(self, folder: Path, name: str, words: str) -> str | None:
        if NAME.fullmatch(name) is None:
            return None
        skill = next((one for one in skills_in(folder, self._data) if one.name == name), None)
        if skill is not None:
            where = os.path.dirname(skill.path)
            head = f"Use the skill {name} (its files are in {where}/):\n\n{skill.body}"
            return f"{head}\n\n{words}" if words else head
        text = _text(folder, f"{COMMANDS}/{name}.md", self._data)
        if text is None:
            return None
        body = parted(text)[1]
        if ARGUMENTS in body:
            return body.replace(ARGUMENTS, words)
        return f"{body}\n\n{words}" if words else body

    def _listed(self, folder: Path) -> tuple[Guide, ...]:
        vault = vault_at(self._data)
        own = [
            Guide(kind="instructions", name=one.path, about="", path=one.path)
            for one in instructions_in(folder, "", vault)
        ]
        skills = [
            Guide(kind="skill", name=one.name, about=one.about, path=one.path)
            for one in skills_in(folder, self._data)
        ]
        taken = {one.name for one in skills}
        commands = []
        for entry in _names(folder, COMMANDS, self._data):
            name = entry.removesuffix(".md")
            if entry == name or NAME.fullmatch(name) is None or name in taken:
                continue
            path = f"{COMMANDS}/{entry}"
            about = parted(_text(folder, path, self._data) or "")[0].get("description", "")
            commands.append(Guide(kind="command", name=name, about=about, path=path))
        return (*own, *skills, *commands)


def skills_in(folder: Path, data: Path | None) -> tuple[Skill, ...]:
    """Those of the folder that say what they are for, by name. Blocks."""
    found: dict[str, Skill] = {}
    for entry in _names(folder, SKILLS, data):
        path = f"{SKILLS}/{entry}/{SKILL_FILE}"
        text = _text(folder, path, data)
        if text is None:
            continue
        fields, body = parted(text)
        name, about = fields.get("name") or entry, fields.get("description", "")
        if about and NAME.fullmatch(name):
            found.setdefault(name, Skill(name=name, about=about, path=path, body=body))
    return tuple(found.values())


def parted(text: str) -> tuple[dict[str, str], str]:
    """What is said of a text in front of it, and the text."""
    front = FRONT.match(text)
    if front is None:
        return {}, text.strip()
    fields = {
        name: cut(value.strip().strip("\"'"), ABOUT_CHARACTERS)
        for name, value in FIELD.findall(front[1])
    }
    return fields, text[front.end() :].strip()


def _names(folder: Path, where: str, data: Path | None) -> list[str]:
    try:
        with (
            opened_folder(locate(folder, where, vault_at(data))) as descriptor,
            os.scandir(descriptor) as found,
        ):
            names = sorted(entry.name for entry in found)
    except (OSError, ToolFailed):
        return []
    return [name for name in names if whole(name) == name][:MOST]


def _text(folder: Path, path: str, data: Path | None) -> str | None:
    content = read_in(folder, path, vault_at(data), GUIDE_BYTES)
    return None if content is None else whole(content.decode("utf-8", "replace"))
