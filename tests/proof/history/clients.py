"""A process with many clients: sessions come, are acted on and watched, end and are checked on.

`python -m tests.proof.history.clients --help`; the driver starts several.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

from tests.proof.history.actor import Actor, SharedSession, answer_approvals
from tests.proof.history.client import HistoryClient
from tests.proof.history.reader import Manner, Reader
from tests.proof.history.record import Record, now

ACTORS = 2
AUDIENCE = (Manner.STEADY, Manner.STEADY, Manner.RESTLESS, Manner.SLOW, Manner.FORGETFUL)
PATIENCE_SECONDS = 5.0
LOOK_SECONDS = 0.1
COUNT_SECONDS = 0.5
WORKSPACE_EVENTS = "/api/workspaces/default/events"


class Clients:
    def __init__(self, name: str, url: str, record: Record, seed: int) -> None:
        self._name = name
        self._url = url
        self._record = record
        self._random = Random(seed)
        self._clients: list[HistoryClient] = []
        self._kept: list[str] = []
        """Paths of sessions that were not deleted."""

    async def work(self, *, sessions: int, over: asyncio.Event) -> None:
        """Play until it is over, see everything to its end, and read it all once more."""
        workspace = asyncio.create_task(self._watch_the_workspace())
        await asyncio.gather(*(self._one_by_one(n, over) for n in range(sessions)))
        workspace.cancel()
        await asyncio.gather(workspace, return_exceptions=True)
        auditor = self._client("auditor")
        for path in self._kept:
            await _audit(auditor, path)
        for client in self._clients:
            await client.close()

    async def _one_by_one(self, number: int, over: asyncio.Event) -> None:
        """One session after the other."""
        host = self._client(f"host{number}")
        actors = [self._client(f"actor{number}-{n}") for n in range(ACTORS)]
        audience = [
            (manner, self._client(f"{manner}{number}-{n}")) for n, manner in enumerate(AUDIENCE)
        ]
        while not over.is_set():
            await self._session(host, actors, audience, over)

    async def _session(
        self,
        host: HistoryClient,
        actors: list[HistoryClient],
        audience: list[tuple[Manner, HistoryClient]],
        over: asyncio.Event,
    ) -> None:
        made = await host.insist("POST", "/api/sessions", {}, key=host.new_key())
        assert made.status == 201, made
        shared = SharedSession(session=made.body["id"], path=f"/api/sessions/{made.body['id']}")
        readers = [
            Reader(client, f"{shared.path}/events", Random(self._random.random()), manner)
            for manner, client in audience
        ]
        watching = [asyncio.create_task(reader.watch()) for reader in readers]
        acting = [
            asyncio.create_task(Actor(a, shared, Random(self._random.random())).act())
            for a in actors
        ]
        with suppress(TimeoutError):
            async with asyncio.timeout(self._random.uniform(3.0, 15.0)):
                await over.wait()
        deleted = self._random.random() < 0.3
        if deleted:
            # In the middle of everything.
            await host.insist("DELETE", shared.path)
        shared.over.set()
        await asyncio.gather(*acting)
        head = None if deleted else await _quieten(host, shared.path)
        if not deleted:
            self._kept.append(shared.path)
        for reader in readers:
            reader.until = head if head is not None else reader.cursor
        await _until_done(readers, watching)

    async def _watch_the_workspace(self) -> None:
        client = self._client("workspace")
        await Reader(client, WORKSPACE_EVENTS, self._random, Manner.RESTLESS).watch()

    def _client(self, name: str) -> HistoryClient:
        keep_alive = len(self._clients) % 2 == 0
        full_name = f"{self._name}-{name}"
        client = HistoryClient(full_name, self._url, self._record, keep_alive=keep_alive)
        self._clients.append(client)
        return client


async def _quieten(client: HistoryClient, path: str) -> int:
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


async def _audit(client: HistoryClient, path: str) -> None:
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
    parser.add_argument("--sessions", type=int, required=True)
    args = parser.parse_args()
    record = Record(args.record)
    try:
        asyncio.run(_run(args, record))
    finally:
        record.close()


async def _run(args: argparse.Namespace, record: Record) -> None:
    over = asyncio.Event()
    # The driver says that it is over by closing our standard input.
    asyncio.get_running_loop().add_reader(sys.stdin, _hear, over)
    counting = asyncio.create_task(_tell_the_count(record))
    await Clients(args.name, args.url, record, args.seed).work(sessions=args.sessions, over=over)
    counting.cancel()


def _hear(over: asyncio.Event) -> None:
    over.set()
    asyncio.get_running_loop().remove_reader(sys.stdin)


async def _tell_the_count(record: Record) -> None:
    while True:
        sys.stdout.write(f"{record.seen}\n")
        sys.stdout.flush()
        await asyncio.sleep(COUNT_SECONDS)


if __name__ == "__main__":
    main()
