"""A process with many clients: sessions come, are acted on and watched, end and are checked on.

`python -m tests.history.crew --help`; the driver starts several.
"""

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path
from random import Random

from tests.history.actor import Actor, Scene, answer_approvals
from tests.history.client import Client
from tests.history.reader import Manner, Reader
from tests.history.record import Record, now

ACTORS = 2
PATIENCE_SECONDS = 8.0
LOOK_SECONDS = 0.1
WORKSPACE_EVENTS = "/api/workspaces/default/events"


class Crew:
    def __init__(self, name: str, url: str, record: Record, seed: int) -> None:
        self._name = name
        self._url = url
        self._record = record
        self._random = Random(seed)
        self._clients: list[Client] = []
        self._kept: list[str] = []
        """Paths of sessions that were not deleted."""

    async def work(self, *, stages: int, until: float) -> None:
        """Play until then, see everything to its end, and read it all once more."""
        workspace = asyncio.create_task(self._watch_the_workspace())
        await asyncio.gather(*(self._stage(n, until) for n in range(stages)))
        workspace.cancel()
        await asyncio.gather(workspace, return_exceptions=True)
        auditor = self._client("auditor")
        for path in self._kept:
            await _audit(auditor, path)
        for client in self._clients:
            await client.close()

    async def _stage(self, number: int, until: float) -> None:
        """One session after the other."""
        host = self._client(f"host{number}")
        actors = [self._client(f"actor{number}-{n}") for n in range(ACTORS)]
        readers = {manner: self._client(f"{manner}{number}") for manner in Manner}
        while now() < until:
            seconds = min(self._random.uniform(3.0, 15.0), until - now())
            await self._session(host, actors, readers, max(seconds, 0.5))

    async def _session(
        self, host: Client, actors: list[Client], clients: dict[Manner, Client], seconds: float
    ) -> None:
        made = await host.insist("POST", "/api/sessions", {}, key=host.new_key())
        assert made.status == 201, made
        scene = Scene(session=made.body["id"], path=f"/api/sessions/{made.body['id']}")
        readers = [
            Reader(client, f"{scene.path}/events", Random(self._random.random()), manner)
            for manner, client in clients.items()
        ]
        watching = [asyncio.create_task(reader.watch()) for reader in readers]
        acting = [
            asyncio.create_task(Actor(a, scene, Random(self._random.random())).act())
            for a in actors
        ]
        await asyncio.sleep(seconds)
        deleted = self._random.random() < 0.3
        if deleted:
            # In the middle of everything.
            await host.insist("DELETE", scene.path)
        scene.over.set()
        await asyncio.gather(*acting)
        head = None if deleted else await _quieten(host, scene.path)
        if not deleted:
            self._kept.append(scene.path)
        for reader in readers:
            reader.until = head if head is not None else reader.cursor
        await _until_done(readers, watching)

    async def _watch_the_workspace(self) -> None:
        client = self._client("workspace")
        await Reader(client, WORKSPACE_EVENTS, self._random, Manner.RESTLESS).watch()

    def _client(self, name: str) -> Client:
        keep_alive = len(self._clients) % 2 == 0
        full_name = f"{self._name}-{name}"
        client = Client(full_name, self._url, self._record, keep_alive=keep_alive)
        self._clients.append(client)
        return client


async def _quieten(client: Client, path: str) -> int:
    """Let everything end by itself; stop what does not. The head when all was quiet."""
    patience = now() + PATIENCE_SECONDS
    while True:
        session = (await client.insist("GET", path)).body
        if session["state"] == "idle" and session["queued"] == 0:
            head: int = session["head"]
            return head
        await answer_approvals(client, path, "deny")
        if now() > patience:
            await client.call("POST", f"{path}/cancel")
        await asyncio.sleep(LOOK_SECONDS)


async def _until_done(readers: Sequence[Reader], watching: Sequence[asyncio.Task[None]]) -> None:
    """Let each see what is still to come; one that has seen it may be waiting for more."""
    for reader, task in zip(readers, watching, strict=True):
        while True:
            if reader.done or task.done():
                break
            await asyncio.sleep(LOOK_SECONDS)
    for task in watching:
        task.cancel()
    await asyncio.gather(*watching, return_exceptions=True)


async def _audit(client: Client, path: str) -> None:
    """Read the whole session again, as one who was never there."""
    head = await _quieten(client, path)
    reader = Reader(client, f"{path}/events", Random(0), Manner.STEADY)
    reader.until = head
    await reader.watch()
    await client.insist("GET", f"{path}/messages")
    await client.insist("GET", f"{path}/runs?limit=200")


def main() -> None:
    parser = argparse.ArgumentParser(description="Clients of a history.")
    parser.add_argument("--name", required=True)
    parser.add_argument("--url", required=True)
    parser.add_argument("--record", type=Path, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--stages", type=int, required=True)
    parser.add_argument("--until", type=float, required=True)
    args = parser.parse_args()
    record = Record(args.record)
    try:
        asyncio.run(_run(args, record))
    finally:
        record.close()


async def _run(args: argparse.Namespace, record: Record) -> None:
    crew = Crew(args.name, args.url, record, args.seed)
    await crew.work(stages=args.stages, until=args.until)


if __name__ == "__main__":
    main()
