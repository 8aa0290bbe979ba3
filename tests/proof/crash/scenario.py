"""The scenario: several people use the server at once, and go on whatever happens to it."""

from functools import partial
from itertools import repeat
from typing import Any
from uuid import uuid4

import aiohttp
import anyio

from tests.proof.crash.administrator import Administrator
from tests.proof.crash.asker import Asker
from tests.proof.crash.comparing import Comparer
from tests.proof.crash.listening import listen
from tests.proof.crash.people import Halfway, People
from tests.proof.crash.record import Json
from tests.proof.crash.talk import Talk, answered, is_over, pending

PEOPLE = 16


class Scenario:
    def __init__(self, people: People) -> None:
        self._people = people
        self._caller = people.caller
        self._gates = people.gates

    async def play(self) -> None:
        """Everyone at once, to the end of what each has to do."""
        comparer = Comparer(self._people)
        actors = (
            self.talker,
            self.worker,
            self.stopper,
            self.interrupter,
            self.queuer,
            self.listener,
            self.historian,
            self.endurer,
            self.mover,
            comparer.judge,
            comparer.forget,
            comparer.attach,
            Administrator(self._people).play,
            self.changer,
            Asker(self._people).play,
            self.tender,
        )
        assert len(actors) == PEOPLE
        self._people.follow("/api/workspaces/default", "default")
        async with anyio.create_task_group() as group:
            for actor in actors:
                group.start_soon(actor)

    async def talker(self) -> None:
        """Streams, a queue, undo, retry, edit, compaction, a title made by the model."""
        talk = await self._people.talk()
        first = await talk.prompt("talk one: say")
        await talk.settled(first)
        await self._people.halfway()
        second = await talk.prompt("talk two: say", mode="chat")
        third = await talk.prompt("talk three: fail", mode="chat")
        await talk.settled(second, third)
        await talk.undo()
        await talk.settled(await talk.again("retry", "talk two: say"))
        users = [m["id"] for m in await talk.messages() if m["role"] == "user"]
        if users:
            body = {"message_id": users[-1], "input": "talk four: say"}
            await talk.settled(await talk.again("edit", "talk four: say", body))
        await self._caller.create(f"{talk.path}/compact")
        await talk.settled(await talk.prompt("talk five: say"))

    async def endurer(self) -> None:
        """A model that is told too much, breaks off, and has too much to do."""
        talk = await self._people.talk(title="Retries")
        await talk.settled(await talk.prompt("endure one: long"))
        await self._people.halfway()
        second = await talk.prompt("endure two: broken")
        third = await talk.prompt("endure three: busy")
        await talk.settled(second, third)

    async def worker(self) -> None:
        """Tools that ask: allowed once, denied, allowed for the session."""
        talk = await self._people.talk(title="Work")
        words = iter(["allow_once", "deny", "allow_session", "allow_session"])
        one = await talk.prompt("work one: tools")
        await talk.asks(one)
        await self._people.halfway()
        await self._approve(talk, one, words)
        await self._approve(talk, await talk.prompt("work two: tools"), words)
        await self._approve(talk, await talk.prompt("work three: tools"), words)
        await self._caller.ask("DELETE", f"{talk.path}/grants/shell")

    async def changer(self) -> None:
        """Runs that change files; what they did is taken back and put there again."""
        talk = await self._people.talk(title="Files")
        one = await talk.prompt("file one: files")
        await self._approve(talk, one, repeat("allow_session"))
        await self._people.halfway()
        two = await talk.prompt("file two: files")
        await self._approve(talk, two, repeat("allow_session"))
        for run, body in ((two, {}), (two, {"redo": True}), (one, {})):
            if run is not None:
                await self._caller.ask("POST", f"/api/runs/{run['id']}/revert", body)

    async def tender(self) -> None:
        """Jobs: one that is left and stopped by hand, one that ends by itself, one that the cancel
        of its run takes along; at last whatever is left."""
        talk = await self._people.talk(title="Jobs")
        left = await talk.prompt("tend one: job")
        await self._approve(talk, left, repeat("allow_session"))
        await self._people.halfway()
        for job in (await self._caller.get(f"{talk.path}/jobs") or {}).get("jobs", ()):
            await self._caller.ask("POST", f"/api/jobs/{job['id']}/stop")
        ending = await talk.prompt("tend two: hurry")
        await self._approve(talk, ending, repeat("allow_session"))
        stopped = await talk.prompt("tend three: linger")
        async with anyio.create_task_group() as helping:
            helping.start_soon(self._approve, talk, stopped, repeat("allow_session"))
            await talk.tends(stopped)
            await talk.cancel(stopped)
        await talk.settled(stopped)
        await self._caller.ask("POST", f"{talk.path}/cancel", {"jobs": True})

    async def _approve(self, talk: Talk, run: Json | None, words: Any) -> None:
        """Answer whatever the run asks until it has ended."""
        while run is not None:
            await talk.watch.until(lambda fold: pending(fold, run) or is_over(fold, run))
            asked = pending(talk.watch.fold, run)
            if talk.watch.over or not asked:
                return
            body = {"decision": next(words, "allow_session"), "note": "as you like"}
            await self._caller.ask("POST", f"/api/approvals/{asked[0]['id']}", body)
            await talk.watch.until(partial(answered, approval=asked[0]))

    async def stopper(self) -> None:
        """Cancels: with a queue, of one run, of a tool's tree, of a question, and what follows; at last
        one that holds what waits."""
        talk = await self._people.talk(title="Stop")
        one = await talk.prompt("stop one: endless")
        two = await talk.prompt("stop two: say")
        await talk.speaks(one)
        await self._people.halfway()
        await talk.cancel()
        await talk.settled(one, two)
        await talk.cancel()
        asking = await talk.prompt("stop three: sleep")
        await talk.asks(asking)
        await talk.cancel()
        await talk.settled(asking)
        working = await talk.prompt("stop four: sleep")
        helping = anyio.create_task_group()
        async with helping:
            helping.start_soon(self._approve, talk, working, iter(["allow_once"]))
            await talk.works(working)
            await talk.cancel(working)
        ended = await talk.settled(working)
        await self._approve(talk, await talk.go_on(ended), repeat("deny"))
        silent = await talk.prompt("stop five: silent")
        await talk.speaks(silent)
        await talk.cancel(silent)
        await talk.settled(await talk.prompt("stop six: say"))
        stopped = await talk.prompt("stop seven: endless")
        kept = await talk.prompt("stop eight: say")
        await talk.speaks(stopped)
        await self._caller.ask("POST", f"{talk.path}/cancel", {"queue": "hold"})
        await talk.settled(stopped)
        await self._caller.ask("POST", f"{talk.path}/release")
        await talk.settled(kept)

    async def interrupter(self) -> None:
        """One prompt takes another's place, whose ending the store refuses as it is; one joins
        another at its next step."""
        talk = await self._people.talk(title="Interrupt")
        old = await talk.prompt("odd break in one: endless")
        waiting = await talk.prompt("break in two: say")
        await talk.speaks(old)
        await self._people.halfway()
        new = await talk.prompt("break in three: say", when_busy="interrupt")
        await talk.settled(old, waiting, new)
        steered = await talk.prompt("break in four: gate")
        await talk.speaks(steered)
        steer = await talk.prompt("break in five: say", when_busy="steer")
        self._gates.open("break in four")
        await talk.settled(steered, steer)

    async def queuer(self) -> None:
        """Changes what waits: its order, its words, its way; takes one back."""
        talk = await self._people.talk(title="Queue")
        busy = await talk.prompt("line zero: gate")
        waiting = [await talk.prompt(f"line {n}: say") for n in ("one", "two", "three")]
        first, second, third = (f"/api/runs/{run['id']}" if run else "" for run in waiting)
        await self._caller.ask("PATCH", second, {"position": 0})
        await self._caller.ask("PATCH", third, {"input": "line three again: say"})
        await self._caller.ask("DELETE", first)
        await self._caller.ask("PATCH", third, {"when_busy": "steer"})
        await self._caller.ask("PATCH", talk.path, {"title": "A better name", "draft": "and th"})
        await self._people.halfway()
        self._gates.open("line zero")
        await talk.settled(busy, *waiting)

    async def listener(self) -> None:
        """Runs that live as long as someone listens."""
        talk = await self._people.talk(title="Listen")
        await self._listen(talk, "listen one: endless", frames=8, until=self._people.halfway)
        await self._listen(talk, "listen two: say", frames=1_000)
        busy = await talk.prompt("listen three: gate")
        await self._listen(talk, "listen four: say", frames=1)
        self._gates.open("listen three")
        await talk.settled(busy)

    async def _listen(
        self, talk: Talk, text: str, *, frames: int, until: Halfway | None = None
    ) -> None:
        path = f"{talk.path}/runs"
        runs = await listen(self._caller, path, text, frames=frames, before_hanging_up=until)
        await talk.settled(*runs.values())

    async def historian(self) -> None:
        """A file, a fork, names, and a deletion in the middle of a run."""
        talk = await self._people.talk(title="History")
        file = await self._upload()
        parts: list[Json] = [{"type": "text", "text": "tell one: say"}]
        if file is not None:
            parts.append({"type": "file", "file_id": file["id"]})
        await talk.settled(await self._caller.create(f"{talk.path}/runs", {"input": parts}))
        made = await self._caller.create(f"{talk.path}/fork", {})
        if made is not None:
            fork = self._people.talk_in(made["id"])
            await self._caller.ask("PATCH", fork.path, {"title": "Branch"})
            run = await fork.prompt("tell two: endless")
            queued = await fork.prompt("tell three: say")
            assert queued or self._caller.server.deaths
            await fork.speaks(run)
            await self._people.halfway()
            await self._people.delete(fork.path, fork.id)
        await talk.settled(await talk.prompt("odd one: say", mode="chat"))
        await self._caller.ask("PATCH", talk.path, {"title": "Told", "pinned": True})
        await talk.settled(await talk.prompt("tell four: say"))

    async def _upload(self) -> Json | None:
        key = str(uuid4())
        while True:
            form = aiohttp.FormData()
            form.add_field("file", b"some words", filename="a.txt", content_type="text/plain")
            answer = await self._caller.ask_once("POST", "/api/files", form, key=key)
            if answer is not None:
                return answer.body if answer.good else None

    async def mover(self) -> None:
        """A workspace with a session in it, renamed and removed with all that is in it."""
        folder = self._people.folder / "elsewhere"
        folder.mkdir(exist_ok=True)
        body = {"name": "Elsewhere", "path": str(folder)}
        made = await self._caller.create("/api/workspaces", body)
        if made is None:
            return
        path = f"/api/workspaces/{made['id']}"
        await self._caller.ask("PATCH", path, {"name": "Far away"})
        talk = await self._people.talk(workspace=made["id"], title="Move")
        await talk.speaks(await talk.prompt("move one: endless"))
        await self._people.halfway()
        await self._people.delete(path, made["id"], talk.id)
