"""Who is asked: answers what runs and their sub-agents want to know, and stops them."""

from functools import partial

from tests.oracle.fold import Fold
from tests.proof.crash.people import People
from tests.proof.crash.record import Json
from tests.proof.crash.talk import Talk, is_over


class Asker:
    def __init__(self, people: People) -> None:
        self._people = people
        self._caller = people.caller

    async def play(self) -> None:
        """Questions of a run, and of its sub-agents; sub-agents that are stopped with it."""
        talk = await self._people.talk(title="Ask")
        one = await talk.prompt("ask one: question")
        await self._asked(talk, one)
        await self._people.halfway()
        await self._answer(talk, one, {"answers": [["Yes"]]})
        await self._answer(talk, await talk.prompt("ask two: delegate"), {"answers": [["Mine"]]})
        await self._answer(talk, await talk.prompt("ask three: question"), {"dismiss": True})
        four = await talk.prompt("ask four: entrust")
        await talk.works(four)
        await talk.cancel()
        await talk.settled(four)

    async def _asked(self, talk: Talk, run: Json | None) -> None:
        await talk.watch.until(lambda fold: run is None or fold.asked or is_over(fold, run))

    async def _answer(self, talk: Talk, run: Json | None, body: Json) -> None:
        """Answer whatever is asked until the run has ended."""
        while run is not None:
            await self._asked(talk, run)
            asked = list(talk.watch.fold.asked.values())
            if talk.watch.over or not asked:
                return
            await self._caller.ask("POST", f"/api/questions/{asked[0]['id']}", body)
            await talk.watch.until(partial(_is_answered, question=asked[0]))


def _is_answered(fold: Fold, question: Json) -> bool:
    return question["id"] not in fold.asked
