"""The nemesis of several nodes: it kills and freezes them, restarts PostgreSQL, spoils their ways."""

import asyncio
import signal
from collections.abc import Mapping
from random import Random

from tests.proof.history.nemesis import Nemesis
from tests.proof.history.record import Record
from tests.support.cluster import TenutoCluster
from tests.support.postgres import Server
from tests.support.proxy import Proxy

DEEDS = {
    "kill": 5,
    "kill all": 1,
    "pause": 4,
    "restart postgres": 4,
    "cut way": 3,
    "mute way": 3,
    "hold way": 2,
    "cut": 3,
    "half-close": 2,
    "delay": 2,
    "refuse": 1,
}
HOW = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT, "kill -9": signal.SIGKILL}


class NodeNemesis(Nemesis):
    deeds: Mapping[str, int] = DEEDS

    def __init__(
        self,
        cluster: TenutoCluster,
        proxy: Proxy,
        record: Record,
        random: Random,
        *,
        postgres: Server,
        ways: Mapping[str, Proxy],
        lease_seconds: float,
    ) -> None:
        super().__init__(cluster, proxy, record, random)
        self._nodes = cluster.nodes
        self._postgres = postgres
        self._ways = ways
        self._lease = lease_seconds

    async def _do(self, deed: str) -> str | None:
        node = self._random.choice(self._nodes)
        name, way = self._random.choice(list(self._ways.items()))
        match deed:
            case "kill":
                # Most are away for longer than the others need to settle what they ran.
                await node.kill()
                await asyncio.sleep(self._random.uniform(0.2, 8.0))
                await node.start()
            case "kill all":
                for node in self._nodes:
                    await node.kill()
                for node in self._nodes:
                    await node.start()
            case "pause":
                node.freeze()
                await asyncio.sleep(self._random.uniform(0.03, 1.6) * self._lease)
                node.thaw()
            case "restart postgres":
                how = self._random.choice(list(HOW))
                await asyncio.to_thread(self._postgres.stop, HOW[how])
                await asyncio.sleep(self._random.uniform(0.0, 1.5))
                await asyncio.to_thread(self._postgres.start)
                return how
            case "cut way":
                return f"{name}: {way.cut(1.0)} connections"
            case "mute way":
                # Statements arrive, and nobody hears what became of them.
                way.mute = True
                await asyncio.sleep(self._random.uniform(0.02, 0.7))
                way.cut(1.0)
                way.mute = False
                return name
            case "hold way":
                way.hold()
                await asyncio.sleep(self._random.uniform(0.03, 1.6) * self._lease)
                way.flow()
                return name
            case _:
                return await super()._do(deed)
        return None
