"""Following a run to its end, and to the end of the run that goes on from it."""

import asyncio
from contextlib import aclosing, suppress

from tenuto.client import ApiError, Client, ConnectionLost, HeardRun, Item, RunHandle, Seen
from tenuto.client.stream import After, ending_of
from tenuto.core.run import Run, RunStatus
from tenuto.core.value import RunId
from tenuto.terminal.asking import RunAsker
from tenuto.terminal.exits import ExitCode, Leave, code_of, refusal
from tenuto.terminal.leaving import Leaving
from tenuto.terminal.options import ViewOptions
from tenuto.terminal.out import note
from tenuto.terminal.viewer import Viewer


class Following:
    """One run as this command sees it; whatever asks us to leave cancels it."""

    def __init__(
        self, tenuto: Client, run: RunHandle, viewer: Viewer, leaving: Leaving, view: ViewOptions
    ) -> None:
        self._tenuto = tenuto
        self._moved = asyncio.Event()
        self._connections = 1
        self._viewer = viewer
        self._leaving = leaving
        self._view = view
        self._asker = RunAsker(tenuto, view.on_ask)
        self._enter(run)

    async def to_its_end(self, *, after: After = None) -> ExitCode:
        """The code that tells the ending. Raises Leave if the server is lost for good."""
        helpers = [asyncio.ensure_future(self._cancel_if_asked())]
        if self._view.timeout is not None:
            helpers.append(asyncio.ensure_future(self._end_in_time(self._view.timeout)))
        try:
            run = await self._follow(after)
        except ConnectionLost as lost:
            why = f"the server is lost; run {self._run.id} may go on"
            raise Leave(ExitCode.NO_SERVER, why) from lost
        except ApiError as error:
            raise _gone(error) from error
        except Leave as left:
            await self._viewer.end(await self._run.get(), self._asker.refused)
            raise Leave(left.code, f"{left.why}; tenuto attach {self._run.id}") from left
        finally:
            self._asker.close()
            for helper in helpers:
                helper.cancel()
        refused = self._asker.refused
        await self._viewer.end(run, refused)
        code = code_of(run, refused=len(refused), cancelled_as=self._leaving.code)
        if code is not ExitCode.DONE:
            note(self._sentence(run))
        return code

    async def _follow(self, after: After) -> Run:
        run = await self._one(after)
        while successor := await self._successor(run):
            if run.status is RunStatus.INTERRUPTED:
                self._viewer.answer.go_on()
            self._enter(self._tenuto.run(successor))
            # What another run said before our prompt reached it is none of our answer.
            run = await self._one(self._viewer.head if run.steered_into else None)
        return run

    def _enter(self, run: RunHandle) -> None:
        self._run = run
        self._leaving.run_id = run.id
        self._moved.set()

    async def _one(self, after: After) -> Run:
        self._connections = 1
        follower = self._run.listen(after=after)
        ended: Run | None = None
        async with aclosing(follower.follow()) as items:
            async for item in items:
                ended = ending_of(self._run.id, item) or ended
                await self._take(follower, item)
        await self._frames(follower)
        return ended or await self._run.get()

    async def _take(self, follower: HeardRun, item: Item) -> None:
        await self._frames(follower)
        await self._viewer.item(item, self._run.id)
        if self._viewer.is_closed:
            self._leaving.ask(ExitCode.CANCELLED, "nobody reads standard output any more")
        if isinstance(item, Seen):
            await self._asker.take(item.event)

    async def _frames(self, follower: HeardRun) -> None:
        for frame in follower.heard():
            await self._viewer.frame(frame)
        if follower.connections > self._connections:
            self._connections = follower.connections
            await self._viewer.say("the connection was lost and is back")

    async def _successor(self, run: Run) -> RunId | None:
        if run.steered_into is not None:
            return run.steered_into
        if run.status is RunStatus.INTERRUPTED:
            async for other in self._tenuto.session(run.session_id).runs():
                if other.continues == run.id:
                    return other.id
                if other.id == run.id:
                    break
        return None

    async def _cancel_if_asked(self) -> None:
        await self._leaving.asked.wait()
        await self._viewer.say(f"stopping the run: {self._leaving.why}")
        while True:
            self._moved.clear()
            # What is lost or refused here, the stream learns too, and tells.
            with suppress(ApiError, ConnectionLost):
                await self._run.cancel()
            await self._moved.wait()

    async def _end_in_time(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self._leaving.ask(ExitCode.TERMINATED, f"--timeout of {seconds:g} s")

    def _sentence(self, run: Run) -> str:
        if run.status is RunStatus.COMPLETED and self._asker.refused:
            return "the run needed a person, and nobody could be asked"
        by = f" ({self._leaving.why})" if self._leaving.why else ""
        why = run.error.message if run.error else f"{run.reason}{by}"
        return f"the run is {run.status}: {why}"


def _gone(error: ApiError) -> Leave:
    if error.status == 404:
        return Leave(ExitCode.CANCELLED, "the session was deleted, and the run with it")
    return refusal(error)
