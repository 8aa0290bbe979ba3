"""What every built-in tool shares: its spec, its arguments, its border."""

from abc import ABC, abstractmethod
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from tenuto.agent.tools.arguments import Arguments, read_arguments, signature
from tenuto.agent.tools.files.errand import Threads
from tenuto.agent.tools.files.folder import Spot, locate
from tenuto.agent.tools.files.seen import SeenFiles
from tenuto.agent.tools.files.vault import vault_at
from tenuto.agent.tools.files.witnesses import Window
from tenuto.agent.tools.settings import ToolSettings
from tenuto.core.rule import Subject, about_path
from tenuto.ports.model import ToolSpec
from tenuto.ports.tool import Parallel, Place, ToolFailed, ToolResult

A = TypeVar("A", bound=Arguments)


class BuiltIn(ABC, Generic[A]):
    """A tool whose arguments are checked and whose foreign errors never leave it."""

    name: str
    about: str
    takes: type[A]
    changes: bool = False

    def __init__(self, settings: ToolSettings, threads: Threads, seen: SeenFiles) -> None:
        self.settings = settings
        self.threads = threads
        """For whatever waits for a disk."""
        self.seen = seen
        self.parallel = Parallel.NEVER if self.changes else Parallel.LOOKING
        self.spec = ToolSpec(
            name=self.name, description=self.about, parameters=schema_of(self.takes)
        )

    async def run(self, arguments: dict[str, Any], place: Place) -> ToolResult:
        given, note = self._read(arguments)
        try:
            said = await self.work(given, place)
        except OSError as error:
            # The error's own text would show a path of the server; its strerror does not.
            raise ToolFailed(f"{_subject(given)}: {error.strerror or 'it failed'}") from error
        result = ToolResult(text=said) if isinstance(said, str) else said
        return replace(result, text=f"{result.text}\n{note}") if note else result

    async def subject(self, arguments: dict[str, Any], place: Place) -> Subject:
        given, _ = self._read(arguments)
        return await self.about_call(given, place)

    async def about_call(self, given: A, place: Place) -> Subject:
        """What a rule's pattern would be about; of most tools nothing."""
        return Subject(tool=self.name)

    async def about_file(self, place: Place, path: str) -> Subject:
        """The file that a path really leads to, through links too."""
        spot = await self.threads.run(lambda errand: self.locate(place, path))
        return about_path(self.name, spot.shown)

    def locate(self, place: Place, path: str) -> Spot:
        """Find a path in the workspace. Raises ToolFailed if no tool may go there."""
        return locate(place.folder, path, vault_at(self.settings.data))

    def tells_of(self, place: Place, spot: Spot) -> None:
        """The call itself tells how it changes this file: no watcher needs to."""
        if self.settings.witnesses is not None:
            self.settings.witnesses.told(place.folder, spot.shown)

    def watching(self, place: Place) -> AbstractAsyncContextManager[Window]:
        """While something runs that may change any file of the workspace."""
        if self.settings.witnesses is None:
            return nullcontext(Window(place.changes.owner))
        return self.settings.witnesses.watching(place)

    @abstractmethod
    async def work(self, given: A, place: Place) -> str | ToolResult:
        """Do it with arguments that are right. Raises ToolFailed or OSError."""

    def _read(self, arguments: dict[str, Any]) -> tuple[A, str]:
        try:
            return read_arguments(arguments, self.takes)
        except (msgspec.ValidationError, RecursionError) as error:
            raise ToolFailed(
                f"Wrong arguments for {self.name}: {error}. It takes {signature(self.takes)}."
            ) from error


def schema_of(takes: type[Arguments]) -> dict[str, Any]:
    """The JSON schema of a tool's arguments, whole, without references."""
    _, shared = msgspec.json.schema_components((takes,), ref_template="{name}")
    schema: dict[str, Any] = _inline(shared[takes.__name__], shared)
    schema.pop("description", None)
    return schema


def _inline(schema: Any, shared: dict[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_inline(item, shared) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inline(shared[schema["$ref"]], shared)
    if "enum" in schema:
        # Its words are all strings; some providers want to be told.
        schema = {"type": "string", **schema}
    return {
        key: {name: _inline(field, shared) for name, field in value.items()}
        if key == "properties"
        else _inline(value, shared)
        for key, value in schema.items()
        if key != "title"
    }


def _subject(given: Arguments) -> str:
    path = getattr(given, "path", None)
    return path if isinstance(path, str) else "The workspace's folder"
