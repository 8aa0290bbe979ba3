"""A run that lives only as long as someone listens to it."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager

from tenuto.client.patience import ConnectionLost
from tenuto.client.run import PromptToSend, RunHandle
from tenuto.client.sse import Frame
from tenuto.client.stream import (
    Follower,
    Item,
    Items,
    Numbers,
    Seen,
    Snapshot,
    ending_of,
    is_deleted,
)
from tenuto.client.wire import Request, ServerLink, encode
from tenuto.core.event import RunAccepted
from tenuto.core.value import RunId, SessionId


class AttachedRun(RunHandle):
    """A run whose events come over the connection that asked for it."""

    def __init__(self, wire: ServerLink, run_id: RunId, first: Item, items: Items) -> None:
        super().__init__(wire, run_id)
        self._first = first
        self._items = items

    async def attached_events(self) -> Items:
        """The run's events from its first on, once; ends after `run.finished`."""
        yield self._first
        async for item in self._items:
            yield item


@asynccontextmanager
async def attach(
    wire: ServerLink, session_id: SessionId, prompt: PromptToSend, *, key: str
) -> AsyncGenerator[AttachedRun, None]:
    """Prompt and listen; leaving the block closes the stream.

    The server then cancels the run if the prompt's `on_disconnect` says so.
    """
    follower = _PromptFollower(wire, session_id, prompt, key=key)
    async with aclosing(follower.follow()) as items:
        async for first in items:
            yield AttachedRun(wire, follower.run_id, first, items)
            return
        raise ConnectionLost("the run's stream ended before it began")


class _PromptFollower(Follower[Snapshot]):
    """Asks with the prompt until it is accepted, and then for the events of its run."""

    def __init__(
        self, wire: ServerLink, session_id: SessionId, prompt: PromptToSend, *, key: str
    ) -> None:
        super().__init__(
            wire,
            f"/api/sessions/{session_id}/runs",
            after=None,
            numbers=Numbers.SOME,
            snapshot=Snapshot,
            is_last=self._is_end,
        )
        self._body = encode(prompt)
        self._key = key
        self._run_id: RunId | None = None

    @property
    def run_id(self) -> RunId:
        assert self._run_id is not None, "known once the first event has come"
        return self._run_id

    def request(self) -> Request:
        if self._run_id is None:
            return Request(method="POST", path=self._path, body=self._body, key=self._key)
        path = f"/api/runs/{self._run_id}/events"
        return Request(method="GET", path=path, params={"after": str(self._after)})

    def take(self, frame: Frame) -> Item | None:
        item = super().take(frame)
        if isinstance(item, Seen) and isinstance(item.event, RunAccepted):
            self._run_id = item.event.run.id
        return item

    def _is_end(self, item: Item) -> bool:
        return ending_of(self.run_id, item) is not None or is_deleted(item)
