"""The toolbox runs a tool call of a model: permission first, then the tool, every step recorded."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import msgspec
from msgspec.structs import replace

from tenuto.core.approval import Approval, ApprovalState
from tenuto.core.error import NotFound
from tenuto.core.message import ToolPart, ToolState
from tenuto.core.permission import Permission
from tenuto.core.rule import Rule, Subject, judge
from tenuto.core.text import cut, whole
from tenuto.core.value import CallId, FileId
from tenuto.engine.kit import Kit, fit
from tenuto.engine.progress import OUTPUT_CHARACTERS, Progress
from tenuto.engine.rulebook import Rules
from tenuto.engine.spool import CallSpool
from tenuto.engine.work import Work
from tenuto.ports.points import NOWHERE, Points, Step
from tenuto.ports.tool import (
    AskingTool,
    DelegatingTool,
    GivenFile,
    Parallel,
    Place,
    Site,
    Tool,
    ToolFailed,
    ToolResult,
    Tools,
    nothing_attached,
    nothing_printed,
)

log = logging.getLogger(__name__)

ERROR_CHARACTERS = 10_000
DETAILS_BYTES = 400_000
FILE_BYTES = 20_000_000
MOST_FILES = 10
NAME_CHARACTERS = 200
DEEPEST = 64
"""Levels of arguments. JSON that is deeper can be read, but not everyone can write it again."""
TOO_DEEP = f"The arguments are nested too deeply: {DEEPEST} levels are the most."
AT_ONCE = 8
KEPT = "kept_characters"
"""Among the details: so long is the output that is kept whole beside the log."""
NOBODY = "This needs a person's permission, and nobody can be asked in this run."


class Toolbox:
    """The border to every tool: what one says is made whole and bounded here, whoever wrote it."""

    def __init__(
        self,
        tools: Tools,
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

    async def for_run(self, work: Work) -> Kit:
        """What the run can use at this step."""
        site = await work.site()
        return Kit(fit(await self._tools.for_run(site), site), self._rules)

    async def run(self, work: Work, part: ToolPart, kit: Kit) -> ToolPart:
        """Do the call and return it as it ended. A failure is its result, never the run's."""
        with work.call():
            return await self._run(work, part, kit)

    async def _run(self, work: Work, part: ToolPart, kit: Kit) -> ToolPart:
        part = _whole(part)
        try:
            tool, arguments = kit.find(part.name), _arguments(part)
            if part.state is not ToolState.WAITING_APPROVAL:
                part = _record(work, replace(part, input=arguments))
            site = await work.site()
            progress = Progress(work.recorder)
            spool = CallSpool(partial(work.keep_output, part.call_id))
            place = self._place(work, part, site, progress, spool)
            refusal = await self._refusal(work, tool, part, place, site.rules)
            if refusal is None and isinstance(tool, AskingTool):
                reply = await work.requests.question(part, tool.inquiries(arguments))
                place = replace(place, reply=reply)
        except ToolFailed as failure:
            return _failed(work, part, str(failure))
        if refusal is not None:
            return _record(work, replace(part, state=ToolState.DENIED, error=refusal))
        async with self._room(work, tool):
            try:
                part, place = await _begin(work, tool, part, arguments, place)
            except ToolFailed as failure:
                return _failed(work, part, str(failure))
            self._points.reach(Step.TOOL_STARTING, part.name)
            progress.begin(part)
            return await self._execute(work, tool, part, arguments, place, progress, spool)

    def _place(
        self, work: Work, part: ToolPart, site: Site, progress: Progress, spool: CallSpool
    ) -> Place:
        return Place(
            folder=site.folder,
            session_id=work.session.id,
            run_id=work.run.id,
            call_id=part.call_id,
            progress=progress.tell,
            attached=partial(_attached, work),
            keep=spool.open,
            printed=partial(_printed, work),
            jobs=work.jobs,
            changes=work.changes(part),
            ask=partial(work.requests.question_meanwhile, part),
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
        if isinstance(tool, DelegatingTool):
            async with work.delegating:
                yield
            return
        if tool.parallel is not Parallel.LOOKING:
            yield
            return
        share = self._shares.setdefault(work, asyncio.Semaphore(self._share))
        async with share, self._looking:
            yield

    async def _refusal(
        self,
        work: Work,
        tool: Tool,
        part: ToolPart,
        place: Place,
        nearer: Sequence[Rule],
    ) -> str | None:
        """Why the call may not be done; None if it may. What was asked before is not judged anew."""
        if part.state is ToolState.WAITING_APPROVAL:
            asked = await work.requests.permission_asked(part)
            if asked is not None:
                return _told(asked)
        subject = await self._subject(tool, part.input, place)
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
                return _told(await work.requests.permission(part, subject, sources))

    async def _execute(
        self,
        work: Work,
        tool: Tool,
        part: ToolPart,
        arguments: dict[str, Any],
        place: Place,
        progress: Progress,
        spool: CallSpool,
    ) -> ToolPart:
        try:
            result = await tool.run(arguments, place)
            if kept := await spool.close():
                result = replace(result, details={**result.details, KEPT: kept})
            done = _done(part, result)
        except ToolFailed as failure:
            return _failed(work, part, str(failure))
        except asyncio.CancelledError:
            progress.record_now()
            raise
        except Exception:
            log.exception("tool failed", extra={"run_id": work.run.id, "tool": part.name})
            return _failed(work, part, f"{part.name} failed because of an error in the server.")
        finally:
            progress.stop()
            await spool.close()
        self._points.reach(Step.TOOL_ENDED, part.name)
        if given := _bounded(result.files):
            return await work.give(done, given)
        if isinstance(tool, AskingTool):
            _record(work, part)
        return _record(work, done)


async def _begin(
    work: Work, tool: Tool, part: ToolPart, arguments: dict[str, Any], place: Place
) -> tuple[ToolPart, Place]:
    """Store the call as running: whoever finds this run after a crash must know that it may have
    been done."""
    if isinstance(tool, DelegatingTool):
        part, sub_agent = await work.delegate(part, tool.assignment(arguments))
        return part, replace(place, sub_agent=sub_agent)
    part = replace(part, state=ToolState.RUNNING)
    # What only asked is told to run and to have ended in one write: no crash finds it under way, so
    # its run can still be left to whoever answers what else it asks.
    if not isinstance(tool, AskingTool):
        _record(work, part)
        await work.recorder.flush()
    return part, place


def _whole(part: ToolPart) -> ToolPart:
    # Providers see to it where the answer comes in; a call must be fit to be stored in any case.
    return replace(
        part,
        call_id=CallId(whole(part.call_id)),
        name=whole(part.name),
        input_text=whole(part.input_text),
    )


def _arguments(part: ToolPart) -> dict[str, Any]:
    try:
        arguments = msgspec.json.decode(part.input_text or "{}")
    except RecursionError:
        raise ToolFailed(TOO_DEEP) from None
    except (msgspec.DecodeError, ValueError) as error:
        raise ToolFailed(f"The arguments are not valid JSON: {error}") from None
    if not isinstance(arguments, dict):
        raise ToolFailed("The arguments must be a JSON object.")
    cleaned: dict[str, Any] = _clean(arguments, DEEPEST)
    return cleaned


def _done(part: ToolPart, result: ToolResult) -> ToolPart:
    """The call with its result, bounded; details that are too large or no JSON are left out."""
    if result.failed:
        said = cut(result.text, ERROR_CHARACTERS)
        done = replace(part, state=ToolState.FAILED, error=said)
    else:
        said = cut(result.text, OUTPUT_CHARACTERS)
        done = replace(part, state=ToolState.DONE, output=said)
    try:
        details = _clean(result.details, DEEPEST)
        small = len(msgspec.json.encode(details)) <= DETAILS_BYTES
    except (ToolFailed, TypeError, ValueError, RecursionError):
        return done
    return replace(done, details=details) if details and small else done


def _bounded(files: Sequence[GivenFile]) -> list[GivenFile]:
    """Those that are kept, their names fit to be stored."""
    small = [file for file in files if len(file.content) <= FILE_BYTES][:MOST_FILES]
    return [
        replace(
            file,
            name=cut(whole(file.name), NAME_CHARACTERS),
            media_type=cut(whole(file.media_type), NAME_CHARACTERS),
        )
        for file in small
    ]


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


async def _printed(work: Work, name: str) -> str:
    try:
        return await work.output(name)
    except NotFound:
        return await nothing_printed(name)


def _told(approval: Approval) -> str | None:
    if approval.state is ApprovalState.ALLOWED:
        return None
    return (
        f"The user did not allow this: {approval.note}"
        if approval.note
        else ("The user did not allow this.")
    )


def _failed(work: Work, part: ToolPart, error: str) -> ToolPart:
    said = cut(error, ERROR_CHARACTERS)
    return _record(work, replace(part, state=ToolState.FAILED, error=said))


def _record(work: Work, part: ToolPart) -> ToolPart:
    work.recorder.update(part)
    return part
