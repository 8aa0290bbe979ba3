"""The one who compares: blind panes, asked one by one and together, judged, kept and removed."""

from tests.proof.crash.listening import listen
from tests.proof.crash.people import People
from tests.proof.crash.record import Json

MODELS = ["openai/test-model"] * 2


class Comparer:
    def __init__(self, people: People) -> None:
        self._people = people
        self._caller = people.caller

    async def judge(self) -> None:
        """A vote in the middle of answers; one pane is kept."""
        made = await self._lay_out()
        if made is None:
            return
        path = _path(made)
        first, second = (self._people.talk_in(session_id) for session_id in _sessions(made))
        done = await first.prompt("pane one: say")
        under_way = await second.prompt("pane two: gate")
        await first.settled(done)
        await second.speaks(under_way)
        await self._people.halfway()
        await self._caller.create(f"{path}/vote", {"winner": 0})
        await self._caller.ask("POST", f"{path}/keep", {"index": 0})
        self._people.gates.open("pane two")
        await second.settled(under_way)
        await first.settled(await first.prompt("pane three: say"))

    async def forget(self) -> None:
        """A comparison that is removed while its panes speak."""
        made = await self._lay_out()
        if made is None:
            return
        path = _path(made)
        talks = [self._people.talk_in(session_id) for session_id in _sessions(made)]
        self._caller.record.asked["pane four: endless"] += len(talks)
        asked = await self._caller.create(f"{path}/runs", {"input": "pane four: endless"})
        for talk, run in zip(talks, asked["runs"] if asked else (), strict=False):
            await talk.speaks(run)
        await self._people.halfway()
        await self._people.delete(path, made["id"], *(talk.id for talk in talks))

    async def attach(self) -> None:
        """Panes on one stream, which is left early, then heard out; one pane is asked again."""
        made = await self._lay_out()
        if made is None:
            return
        path = f"{_path(made)}/runs"
        talks = self._people.talks_in(_sessions(made))
        left = await listen(
            self._caller,
            path,
            "pane five: endless",
            logs=len(talks),
            frames=14,
            before_hanging_up=self._people.halfway,
        )
        for talk in talks:
            await talk.settled(left.get(talk.id))
        heard = await listen(self._caller, path, "pane six: say", logs=len(talks), frames=1_000)
        for talk in talks:
            await talk.settled(heard.get(talk.id))
        self._caller.record.asked["pane six: say"] += 1
        again = await self._caller.create(path, {"panes": [1]})
        await talks[1].settled(*(again["runs"] if again else ()))

    async def _lay_out(self) -> Json | None:
        return await self._caller.create("/api/comparisons", {"models": MODELS})


def _path(comparison: Json) -> str:
    return f"/api/comparisons/{comparison['id']}"


def _sessions(comparison: Json) -> list[str]:
    return [pane["session_id"] for pane in comparison["panes"]]
