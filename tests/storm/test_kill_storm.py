"""`kill -9` twenty times in a row under load."""

import json
import sys
from collections import Counter
from random import Random

import anyio
import msgspec
import pytest

from tenuto.client import Client, Patience
from tenuto.core.value import SessionId
from tests.storm.actor import Actor, Improviser
from tests.storm.witness import ClientWitness, RawWitness
from tests.support.fold import ENDINGS, Json, assert_settled
from tests.support.model_server import ModelServer
from tests.support.raw import RawApi
from tests.support.server import TenutoServer
from tests.support.talk import all_of
from tests.support.watch import until

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

SESSIONS = 10
KILLS = 20
EAGER = Patience(first_seconds=0.03, longest_seconds=0.2)


@pytest.mark.guarantee("H5", "H17", "C5", "C13")
@pytest.mark.failure(6, 14, 15, 18, 19, 21, 23, 27)
async def test_twenty_crashes_under_load_lose_double_and_change_nothing(
    seed: int, model: ModelServer, server: TenutoServer, raw: RawApi
) -> None:
    improviser = Improviser(Random(seed))
    model.script(improviser)
    async with server.client(patience=EAGER) as client, anyio.create_task_group() as watching:
        storm = Storm(client, raw, await _actors(client, seed))
        for witness in storm.witnesses:
            watching.start_soon(witness.watch)
        async with anyio.create_task_group() as acting:
            over = anyio.Event()
            for actor in storm.actors:
                acting.start_soon(actor.act_until, over)
            await _kill_again_and_again(server, Random(seed + 1))
            over.set()
        improviser.hurry = True
        await storm.calm()
        await until(all_of(lambda exchange: exchange.ended != "open", model))
        watching.cancel_scope.cancel()
    await storm.judge()


async def _actors(client: Client, seed: int) -> list[Actor]:
    return [Actor(await client.create_session(), Random(seed + 10 + n)) for n in range(SESSIONS)]


async def _kill_again_and_again(server: TenutoServer, random: Random) -> None:
    for n in range(KILLS):
        await anyio.sleep(random.uniform(0.1, 0.8))
        await server.kill()
        if n % 10 == 9:
            # This one does not live to see the end of its own recovery.
            await server.start_nowait()
            await anyio.sleep(random.uniform(0.2, 0.8))
            await server.kill()
        await server.start()
    await anyio.sleep(0.5)


class Storm:
    """Who acts, who watches, and what must be true when it is over."""

    def __init__(self, client: Client, raw: RawApi, actors: list[Actor]) -> None:
        self.actors = actors
        self._client = client
        self._raw = raw
        self._raw_witnesses = {a.session.id: RawWitness(raw, a.session.id) for a in actors}
        self._client_witnesses = {a.session.id: ClientWitness(a.session) for a in actors}

    @property
    def witnesses(self) -> list[RawWitness | ClientWitness]:
        return [*self._raw_witnesses.values(), *self._client_witnesses.values()]

    async def calm(self) -> None:
        """Wait until all that was accepted has ended and everyone has seen it."""
        await until(self._nothing_is_open)
        for actor in self.actors:
            head = (await actor.session.get()).head
            watched = [w[actor.session.id] for w in (self._raw_witnesses, self._client_witnesses)]

            async def seen(
                watched: list[RawWitness | ClientWitness] = watched, h: int = head
            ) -> bool:
                return all(w.cursor == h or bool(w.complaints) for w in watched)

            await until(seen)

    async def judge(self) -> None:
        counts: Counter[str] = Counter()
        for actor in self.actors:
            log = await assert_settled(self._raw, actor.session.id)
            endings = self._judge_runs(actor, log)
            self._judge_witnesses(actor.session.id, log)
            counts.update(endings)
        resumed = sum(witness.resumed for witness in self._raw_witnesses.values())
        sys.stdout.write(f"{dict(counts)}, streams resumed {resumed} times\n")
        # A storm in which one of these did not happen would have shown nothing.
        for ending in ("completed", "cancelled", "interrupted", "failed"):
            assert counts[ending], f"no run ended {ending}: {counts}"
        assert resumed >= SESSIONS * KILLS // 2

    def _judge_runs(self, actor: Actor, log: list[Json]) -> list[str]:
        ends = [event["run"] for event in log if event["type"] == "run.finished"]
        ended = {run["id"]: run for run in ends}
        assert len(ends) == len(ended), "a run ended twice"
        lost = [text for run_id, text in actor.accepted.items() if run_id not in ended]
        assert not lost, f"accepted and never ended: {lost}"
        for run_id, text in actor.accepted.items():
            assert ended[run_id]["status"] in ENDINGS
            assert ended[run_id]["input"] == text
        # A prompt that was sent again after a lost answer was accepted once all the same.
        twice = [text for text, n in Counter(run["input"] for run in ends).items() if n > 1]
        assert not twice, f"accepted twice: {twice}"
        return [run["status"] for run in ends]

    def _judge_witnesses(self, session_id: SessionId, log: list[Json]) -> None:
        raw, client = self._raw_witnesses[session_id], self._client_witnesses[session_id]
        assert not raw.complaints and not client.complaints, (raw.complaints, client.complaints)
        for seen, kept in zip(raw.events, log, strict=True):
            assert seen == kept, f"event {kept['seq']} was seen as {seen} and is now {kept}"
        for item, kept in zip(client.seen, log, strict=True):
            told = {**json.loads(msgspec.json.encode(item.event)), "seq": item.seq}
            assert told == kept, f"our client told {told} of {kept}"

    async def _nothing_is_open(self) -> bool:
        open_runs = [
            run["id"]
            for status in ("queued", "running")  # One that starts between is seen.
            for run in (await self._raw.get(f"/api/runs?status={status}"))["runs"]
        ]
        return not open_runs
