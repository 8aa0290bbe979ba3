"""Waiting for what a test wants to see, with a limit and never by guessing a time."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import TypeVar

import anyio

from tenuto.client import RunHandle, Seen, SessionHandle
from tenuto.core.event import Event, PartDelta, PartField, PartStarted, PartUpdated
from tenuto.core.message import Message, ReasoningPart, TextPart, ToolChange

WATCH_SECONDS = 20.0
POLL_SECONDS = 0.02

E = TypeVar("E")


async def until_event(
    owner: RunHandle | SessionHandle,
    kind: type[E],
    where: Callable[[E], bool] = lambda _: True,
) -> E:
    """The first event of this kind that anyone can see."""
    with anyio.fail_after(WATCH_SECONDS):
        async with aclosing(owner.events()) as items:
            async for item in items:
                event: object = item.event if isinstance(item, Seen) else None
                if isinstance(event, kind) and where(event):
                    return event
    raise AssertionError(f"the events ended without a {kind.__name__}")


async def until_text(run: RunHandle, text: str) -> None:
    """Wait until clients can see this text (or reasoning, or tool input) of the run."""
    shown = ""
    with anyio.fail_after(WATCH_SECONDS):
        async with aclosing(run.events()) as items:
            async for item in items:
                shown += _text_of(item.event) if isinstance(item, Seen) else ""
                if text in shown:
                    return
    raise AssertionError(f"the run ended with {shown!r}, without {text!r}")


async def until_output(owner: RunHandle | SessionHandle, text: str) -> str:
    """Wait until clients can see this in the output of a tool; all of its output so far."""
    calls: dict[str, str] = {}
    with anyio.fail_after(WATCH_SECONDS):
        async with aclosing(owner.events()) as items:
            async for item in items:
                match item.event if isinstance(item, Seen) else None:
                    case PartDelta(field=PartField.OUTPUT, part_id=part_id, text=more):
                        calls[part_id] = calls.get(part_id, "") + more
                    case PartUpdated(part=ToolChange(id=part_id, output=str() as said)):
                        calls[part_id] = said
                    case _:
                        continue
                if text in calls[part_id]:
                    return calls[part_id]
    raise AssertionError(f"the events ended with {calls!r}, without {text!r}")


async def until(true: Callable[[], Awaitable[bool]]) -> None:
    """Ask until it is true. For what no event tells."""
    with anyio.fail_after(WATCH_SECONDS):
        while not await true():  # noqa: ASYNC110 (it is a process that we wait for)
            await anyio.sleep(POLL_SECONDS)


def outline(messages: tuple[Message, ...]) -> list[tuple[str, str, str | None]]:
    """Role, text and finish reason of each message; reasoning in brackets."""
    return [(m.role, "".join(_shown(part) for part in m.parts), m.finish_reason) for m in messages]


def _shown(part: object) -> str:
    match part:
        case TextPart():
            return part.text
        case ReasoningPart():
            return f"[{part.text}]"
        case _:
            return f"<{type(part).__name__}>"


def _text_of(event: Event) -> str:
    match event:
        case PartDelta():
            return event.text
        case PartStarted(part=TextPart(text=text) | ReasoningPart(text=text)):
            return text
        case _:
            return ""
