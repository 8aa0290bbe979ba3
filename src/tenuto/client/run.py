"""A run on the server, by its id. Making a handle asks nothing."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from tenuto.client.heard import HeardRun
from tenuto.client.patience import ConnectionLost
from tenuto.client.stream import After, Items, RunFollower, ending_of
from tenuto.client.wire import Request, ServerLink, creation, encode, set_only
from tenuto.core.options import Effort, Options
from tenuto.core.run import Input, Mode, OnDisconnect, OnInterrupt, Run, WhenBusy
from tenuto.core.value import RunId, Value


class PromptToSend(Value):
    """A prompt to be sent; what is unset, the server decides."""

    input: Input
    model: str | UnsetType = UNSET
    mode: Mode | UnsetType = UNSET
    when_busy: WhenBusy | UnsetType = UNSET
    on_disconnect: OnDisconnect | UnsetType = UNSET
    effort: Effort | UnsetType = UNSET
    options: Options | UnsetType = UNSET
    attended: bool | UnsetType = UNSET
    on_interrupt: OnInterrupt | UnsetType = UNSET


class RunHandle:
    def __init__(self, wire: ServerLink, run_id: RunId) -> None:
        self._wire = wire
        self._path = f"/api/runs/{run_id}"
        self.id = run_id

    async def get(self) -> Run:
        answer = await self._wire.ask(Request(method="GET", path=self._path))
        return msgspec.json.decode(answer, type=Run)

    async def wait(self) -> Run:
        """The run as it ended, however long that takes."""
        run = await self.get()
        if run.ended:
            return run
        async with aclosing(self.events()) as items:
            async for item in items:
                if ended := ending_of(self.id, item):
                    return ended
        raise ConnectionLost(f"the events of run {self.id} ended without its ending")

    def events(self, *, after: After = None) -> Items:
        """Each event of the run once, in order; ends after `run.finished`."""
        return RunFollower(self._wire, self.id, after=after).follow()

    def listen(self, *, after: After = None) -> HeardRun:
        """The same events, together with the frames that they came in."""
        return HeardRun(self._wire, self.id, after=after)

    async def cancel(self) -> Run:
        """The run as it ended: by this cancel, or before it."""
        answer = await self._wire.ask(Request(method="POST", path=f"{self._path}/cancel"))
        return msgspec.json.decode(answer, type=Run)

    async def edit(
        self,
        *,
        input: Input | UnsetType = UNSET,
        position: int | UnsetType = UNSET,
        when_busy: WhenBusy | UnsetType = UNSET,
    ) -> Run:
        """Change the run while it waits in the queue."""
        changes = {"input": input, "position": position, "when_busy": when_busy}
        body = encode(set_only(changes))
        answer = await self._wire.ask(Request(method="PATCH", path=self._path, body=body))
        return msgspec.json.decode(answer, type=Run)

    async def withdraw(self) -> None:
        """Take the run back while it waits in the queue."""
        await self._wire.ask(Request(method="DELETE", path=self._path))

    async def go_on(self, *, idempotency_key: str | None = None) -> "RunHandle":
        """A new run that goes on from what this one had streamed."""
        return await start_run(self._wire, f"{self._path}/continue", {}, key=idempotency_key)


async def start_run(wire: ServerLink, path: str, body: Any, *, key: str | None) -> RunHandle:
    answer = await wire.ask(creation(path, body, key))
    return RunHandle(wire, msgspec.json.decode(answer, type=Run).id)


async def pages_of_runs(wire: ServerLink, path: str, params: dict[str, str]) -> AsyncIterator[Run]:
    cursor: str | None = ""
    while cursor is not None:
        asked = {**params, "cursor": cursor} if cursor else params
        answer = await wire.ask(Request(method="GET", path=path, params=asked))
        page = msgspec.json.decode(answer, type=_RunPage)
        for run in page.runs:
            yield run
        cursor = page.next


class _RunPage(Value):
    runs: tuple[Run, ...]
    next: str | None
