"""The toolbox runs a tool call of a model: permission first, then the tool, every step recorded."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import msgspec
from msgspec.structs import replace

from tenuto.core.approval import Approval, ApprovalState
from tenuto.core.error import NotFound
from tenuto.core.message import ToolPart, ToolState
from tenuto.core.permission import Permission
from tenuto.core.rule import BY_DEFAULT, Rule, Subject, judge
from tenuto.core.text import cut, whole
from tenuto.core.value import CallId, FileId, Value
from tenuto.engine.work import Site, Work
from tenuto.ports.model import ToolSpec
from tenuto.ports.points import NOWHERE, Points, Step
from tenuto.ports.tool import Place, Tool, ToolFailed, ToolResult, nothing_attached

log = logging.getLogger(__name__)

PROGRESS_SECONDS = 0.5
OUTPUT_CHARACTERS = 2_000_000
"""Tools keep a limit of their own; this one holds for one that does not."""
ERROR_CHARACTERS = 10_000
DETAILS_BYTES = 400_000
NAME_CHARACTERS = 100
DEEPEST = 64
"""Levels of arguments. JSON that is deeper can be read, but not everyone can write it again."""
TOO_DEEP = f"The arguments are nested too deeply: {DEEPEST} levels are the most."
AT_ONCE = 8
NOBODY = "This needs a person's permission, and nobody can be asked in this run."


class Rules(Protocol):
    """What each tool may do now; asked before every call."""

    def permission(self, tool: Tool) -> Permission:
        """For whatever it does, where no rule says anything."""

    def rules(self) -> tuple[Rule, ...]:
        """The server's own, in order."""


class Rulebook(Value):
    """Rules that stay as they are."""

    default: Permission
    """For tools that change something; the others are allowed."""
    by_tool: dict[str, Permission] = msgspec.field(default_factory=dict)
    written: tuple[Rule, ...] = ()
    """In the server's file."""

    def permission(self, tool: Tool) -> Permission:
        usual = self.default if tool.changes else Permission.ALLOW
        return judge(Subject(tool=tool.spec.name), (self.rules(),), usual)

    def rules(self) -> tuple[Rule, ...]:
        # Whoever sets something for a tool means all that it does.
        said = (Rule(tool=tool, decision=what) for tool, what in self.by_tool.items())
        return (*BY_DEFAULT, *self.written, *said)


class Toolbox:
    """The border to every tool: what one says is made whole and bounded here, whoever wrote it."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        rules: Rules,
        *,
        at_once: int = AT_ONCE,
        points: Points = NOWHERE,
    ) -> None:
        self._points = points
        self._tools = tools
        self._rules = rules
        # Calls that only look run side by side, in all runs together so many; the others wait.
        self._looking = asyncio.Semaphore(at_once)
        # One run gets half: however many it asks for, the others' calls do not wait behind them.
        self._share = max(1, at_once // 2)
        self._shares: WeakKeyDictionary[Work, asyncio.Semaphore] = WeakKeyDictionary()

    def specs(self) -> tuple[ToolSpec, ...]:
        """Those that may be called now: a model that is offered a denied one only tries it."""
        return tuple(
            tool.spec
            for tool in self._tools.values()
            if self._rules.permission(tool) is not Permission.DENY
        )

    def only_looks(self, part: ToolPart) -> bool:
        """Whether the call may run beside others: it changes nothing and asks nobody."""
        tool = self._tools.get(part.name)
        if tool is None or tool.changes:
            return False
        return self._rules.permission(tool) is not Permission.ASK

    async def run(self, work: Work, part: ToolPart) -> ToolPart:
        """Do the call and return it as it ended. A failure is its result, never the run's."""
        part = _whole(part)
        try:
            tool, arguments = self._prepare(part)
            part = _record(work, replace(part, input=arguments))
            site = await work.site()
            progress = _Progress(work)
            place = self._place(work, part, site, progress)
            subject = await self._subject(tool, arguments, place)
        except ToolFailed as failure:
            return _failed(work, part, str(failure))
        refusal = await self._refusal(work, tool, part, subject, site.rules)
        if refusal is not None:
            return _record(work, replace(part, state=ToolState.DENIED, error=refusal))
        async with self._room(work, tool):
            part = _record(work, replace(part, state=ToolState.RUNNING))
            self._points.reach(Step.TOOL_STARTING, part.name)
            progress.begin(part)
            return await self._execute(work, tool, part, arguments, place, progress)

    def _place(self, work: Work, part: ToolPart, site: Site, progress: "_Progress") -> Place:
        return Place(
            folder=site.folder,
            session_id=work.session.id,
            call_id=part.call_id,
            progress=progress.tell,
            attached=partial(_attached, work),
        )

    async def _subject(self, tool: Tool, arguments: dict[str, Any], place: Place) -> Subject:
        try:
            return await tool.subject(arguments, place)
        except (ToolFailed, asyncio.CancelledError):
            raise
        except Exception as error:
            log.exception("a call cannot be judged", extra={"tool": tool.spec.name})
            name = tool.spec.name
            raise ToolFailed(f"{name} failed because of an error in the server.") from error

    @asynccontextmanager
    async def _room(self, work: Work, tool: Tool) -> AsyncIterator[None]:
        if tool.changes:
            yield
            return
        share = self._shares.setdefault(work, asyncio.Semaphore(self._share))
        async with share, self._looking:
            yield

    def _prepare(self, part: ToolPart) -> tuple[Tool, dict[str, Any]]:
        tool = self._tools.get(part.name)
        if tool is None:
            names = ", ".join(self._tools) or "none"
            name = cut(part.name, NAME_CHARACTERS)
            raise ToolFailed(f"There is no tool {name!r}. The tools are: {names}.")
        try:
            arguments = msgspec.json.decode(part.input_text or "{}")
        except RecursionError:
            raise ToolFailed(TOO_DEEP) from None
        except (msgspec.DecodeError, ValueError) as error:
            raise ToolFailed(f"The arguments are not valid JSON: {error}") from None
        if not isinstance(arguments, dict):
            raise ToolFailed("The arguments must be a JSON object.")
        return tool, _clean(arguments, DEEPEST)

    async def _refusal(
        self,
        work: Work,
        tool: Tool,
        part: ToolPart,
        subject: Subject,
        nearer: Sequence[Rule],
    ) -> str | None:
        """Why the call may not be done; None if it may."""
        usual = self._rules.permission(tool)
        sources = (nearer, self._rules.rules())
        match judge(subject, sources, usual):
            case Permission.ALLOW:
                return None
            case Permission.DENY if usual is Permission.DENY:
                return "The server's settings do not allow this tool."
            case Permission.DENY:
                return "A rule does not allow this."
            case Permission.ASK if not work.run.attended:
                return NOBODY
            case Permission.ASK:
                return _told(await work.ask(part, subject, sources))

    async def _execute(
        self,
        work: Work,
        tool: Tool,
        part: ToolPart,
        arguments: dict[str, Any],
        place: Place,
        progress: "_Progress",
    ) -> ToolPart:
        try:
            done = _done(part, await tool.run(arguments, place))
        except ToolFailed as failure:
            return _failed(work, part, str(failure))
        except asyncio.CancelledError:
            progress.record()
            raise
        except Exception:
            log.exception("tool failed", extra={"run_id": work.run.id, "tool": part.name})
            return _failed(work, part, f"{part.name} failed because of an error in the server.")
        finally:
            progress.stop()
        self._points.reach(Step.TOOL_ENDED, part.name)
        return _record(work, done)


def _whole(part: ToolPart) -> ToolPart:
    # Providers see to it where the answer comes in; a call must be fit to be stored in any case.
    return replace(
        part,
        call_id=CallId(whole(part.call_id)),
        name=whole(part.name),
        input_text=whole(part.input_text),
    )


def _done(part: ToolPart, result: ToolResult) -> ToolPart:
    """The call with its result, bounded; details that are too large or no JSON are left out."""
    said = cut(result.text, OUTPUT_CHARACTERS)
    done = replace(part, state=ToolState.DONE, output=said)
    try:
        details = _clean(result.details, DEEPEST)
        small = len(msgspec.json.encode(details)) <= DETAILS_BYTES
    except (ToolFailed, TypeError, ValueError, RecursionError):
        return done
    return replace(done, details=details) if details and small else done


def _clean(value: Any, levels: int) -> Any:
    """The same arguments with whole characters only. Raises ToolFailed if they are too deep."""
    match value:
        case str():
            return whole(value)
        case dict() | list() if not levels:
            raise ToolFailed(TOO_DEEP)
        case dict():
            return {whole(key): _clean(item, levels - 1) for key, item in value.items()}
        case list():
            return [_clean(item, levels - 1) for item in value]
    return value


async def _attached(work: Work, file_id: str) -> bytes:
    """Of this conversation only: ids are no secrets."""
    if FileId(file_id) not in await work.files():
        return await nothing_attached(file_id)
    try:
        return await work.file_content(FileId(file_id))
    except NotFound:
        return await nothing_attached(file_id)


def _told(approval: Approval) -> str | None:
    if approval.state is ApprovalState.ALLOWED:
        return None
    return (
        f"The user did not allow this: {approval.note}"
        if approval.note
        else ("The user did not allow this.")
    )


class _Progress:
    """Records what a tool has said so far, now and then."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._part: ToolPart | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = False

    def begin(self, part: ToolPart) -> None:
        """The call is under way now."""
        self._part = part

    def tell(self, output: str) -> None:
        output = cut(output, OUTPUT_CHARACTERS)
        if self._part is None or self._stopped or output == self._part.output:
            return
        self._part = replace(self._part, output=output)
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(PROGRESS_SECONDS, self.record)

    def record(self) -> None:
        self._timer = None
        if not self._stopped and self._part is not None and self._part.output is not None:
            _record(self._work, self._part)

    def stop(self) -> None:
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()


def _failed(work: Work, part: ToolPart, error: str) -> ToolPart:
    said = cut(error, ERROR_CHARACTERS)
    return _record(work, replace(part, state=ToolState.FAILED, error=said))


def _record(work: Work, part: ToolPart) -> ToolPart:
    work.recorder.update(part)
    return part
