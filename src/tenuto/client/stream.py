"""Event streams that survive lost connections and restarted servers."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from enum import StrEnum
from typing import Generic, Literal, TypeVar, get_args

import anyio
import msgspec

from tenuto.client.patience import Backoff, ConnectionLost
from tenuto.client.sse import Frame, FrameParser
from tenuto.client.wire import LOST, ApiError, Request, ServerLink
from tenuto.core.approval import Approval
from tenuto.core.event import Event, RunFinished, SessionDeleted
from tenuto.core.job import Job
from tenuto.core.message import Message
from tenuto.core.question import Question
from tenuto.core.run import Run
from tenuto.core.session import Session, Workspace
from tenuto.core.value import RunId, Value

After = int | Literal["now"] | None
"""The last seq seen; `now` for a snapshot and what follows it; None for everything."""

TYPES = frozenset(kind.__struct_config__.tag for kind in get_args(Event))


class Seen(Value):
    """An event in its place in the log."""

    seq: int
    event: Event


class Snapshot(Value):
    """All there is at `seq`, in place of the events up to it."""

    seq: int
    session: Session
    messages: tuple[Message, ...]
    runs: tuple[Run, ...]
    approvals: tuple[Approval, ...]
    questions: tuple[Question, ...] = ()
    jobs: tuple[Job, ...] = ()


class WorkspaceSnapshot(Value):
    """A workspace at `seq`: its newest sessions and all that is queued or running in them."""

    seq: int
    workspace: Workspace
    sessions: tuple[Session, ...]
    runs: tuple[Run, ...]


S = TypeVar("S", bound=Snapshot | WorkspaceSnapshot)
Item = Seen | Snapshot
Items = AsyncGenerator[Item, None]


class Numbers(StrEnum):
    """Which seqs a stream must show."""

    ALL = "all"
    SOME = "some"
    """One run's part of its session's log."""


class Follower(Generic[S]):
    """Reads one log from a cursor on: each event once, in order, across any number of connections."""

    def __init__(
        self,
        wire: ServerLink,
        path: str,
        *,
        after: After,
        numbers: Numbers,
        snapshot: type[S],
        is_last: Callable[[Seen | S], bool],
    ) -> None:
        self._wire = wire
        self._path = path
        self._after = after
        self._numbers = numbers
        self._snapshot = snapshot
        self._is_last = is_last
        self._gap_after: int | None = None

    async def follow(self) -> AsyncGenerator[Seen | S, None]:
        """Raises ConnectionLost when the server stays away, ApiError when it says no."""
        backoff = Backoff(self._wire.patience)
        while True:
            cause: Exception = EOFError("the stream was closed")
            at_least = 0.0
            try:
                async with aclosing(self.read_once()) as items:
                    async for item in items:
                        backoff.reset()
                        yield item
                        if self._is_last(item):
                            return
                if await self.is_over():
                    return
            except ApiError as error:
                if not error.passing:
                    raise
                cause, at_least = error, error.retry_after or 0.0
            except (*LOST, _Gap) as lost:
                cause = lost
            delay = backoff.next_delay(at_least=at_least)
            if delay is None:
                raise ConnectionLost(f"lost {self._path}: {cause!r}") from cause
            await anyio.sleep(delay)

    async def is_over(self) -> bool:
        """Whether a stream that closed without its last event is over all the same."""
        return False

    def request(self) -> Request:
        params = {} if self._after is None else {"after": str(self._after)}
        return Request(method="GET", path=self._path, params=params)

    async def read_once(self) -> AsyncGenerator[Seen | S, None]:
        """What one connection has to say, from the cursor on."""
        parser = FrameParser()
        async with self._wire.stream(self.request()) as body:
            async for chunk in body.iter_any():
                for frame in parser.feed(chunk):
                    item = self.take(frame)
                    if item is not None:
                        yield item

    def take(self, frame: Frame) -> Seen | S | None:
        seq = int(frame.id)
        if frame.event == "snapshot":
            self._after = seq
            return msgspec.convert({**msgspec.json.decode(frame.data), "seq": seq}, self._snapshot)
        if self._after != "now":
            seen = self._after or 0
            if seq <= seen:
                return None
            if self._numbers is Numbers.ALL and seq != seen + 1:
                raise self._gap(seen, seq)
        self._after = seq
        # A newer server may tell things that this client has no word for.
        return Seen(seq=seq, event=_decode(frame.data)) if frame.event in TYPES else None

    def _gap(self, seen: int, seq: int) -> "_Gap":
        # Asking again from the same place heals a bad connection; if it does not, start afresh.
        if self._gap_after == seen:
            self._after = "now"
        self._gap_after = seen
        return _Gap(f"event {seq} came after {seen}")


class RunFollower(Follower[Snapshot]):
    """Follows one run to its `run.finished`."""

    def __init__(self, wire: ServerLink, run_id: RunId, *, after: After) -> None:
        super().__init__(
            wire,
            f"/api/runs/{run_id}/events",
            after=after,
            numbers=Numbers.SOME,
            snapshot=Snapshot,
            is_last=lambda item: ending_of(run_id, item) is not None or is_deleted(item),
        )
        self._run_id = run_id

    async def is_over(self) -> bool:
        """Whether the cursor is past the run's end: then the server has nothing more to say."""
        cursor = self._after
        if not isinstance(cursor, int):
            return False
        whole = RunFollower(self._wire, self._run_id, after=None)
        async with aclosing(whole.read_once()) as items:
            async for item in items:
                if ending_of(self._run_id, item):
                    return item.seq <= cursor
        return False


def ending_of(run_id: RunId, item: Item) -> Run | None:
    """The run as it ended, if this item tells of it."""
    if isinstance(item, Snapshot):
        return next((run for run in item.runs if run.id == run_id and run.ended), None)
    event = item.event
    return event.run if isinstance(event, RunFinished) and event.run.id == run_id else None


def is_deleted(item: Item) -> bool:
    return isinstance(item, Seen) and isinstance(item.event, SessionDeleted)


class _Gap(Exception):
    """Events are missing between two that came."""


def _decode(data: str) -> Event:
    event: Event = msgspec.json.decode(data, type=Event)
    return event
