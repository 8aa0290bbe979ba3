"""Several real servers on one PostgreSQL, with the face of one: each request goes to one by lot.

`TENUTO_TEST_NODES=2` gives it to all tests that ask `serving` for a server.
"""

import os
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from pathlib import Path
from random import Random
from typing import Self

import anyio

from tenuto.client import Client, Patience
from tests.support.postgres import dropped_database, fresh_database
from tests.support.proxy import Proxy
from tests.support.seed import seed_of
from tests.support.server import TenutoServer

NODES = "TENUTO_TEST_NODES"
DATABASES = "TENUTO_TEST_POSTGRES"
SECRET = "one-secret-for-all-nodes"
NAMES = ("ada", "bea", "cleo")


def nodes_wanted() -> int:
    """How many nodes the tests' server shall be; 0: one without PostgreSQL."""
    return int(os.environ.get(NODES, "0"))


@asynccontextmanager
async def serving(
    folder: Path,
    *,
    model_url: str | None,
    env: Mapping[str, str] | None = None,
    flags: Sequence[str] = (),
) -> AsyncIterator[TenutoServer]:
    """The server of a test: one on SQLite, or a cluster if the tests were started so."""
    if not nodes_wanted():
        async with TenutoServer(folder, model_url=model_url, env=env, flags=flags) as server:
            yield server
        return
    async with database() as url:
        cluster = TenutoCluster(
            folder, database=url, nodes=nodes_wanted(), model_url=model_url, env=env, flags=flags
        )
        async with cluster:
            yield cluster


@asynccontextmanager
async def database() -> AsyncIterator[str]:
    """A database that nobody else has; it is gone afterwards."""
    name = f"cluster_{os.getpid()}_{next(_numbers)}"
    yield await fresh_database(os.environ[DATABASES], name)
    await dropped_database(os.environ[DATABASES], name)


_numbers = count(1)


class TenutoCluster(TenutoServer):
    """What is done to it is done to all its nodes; what is asked of it is asked of any."""

    def __init__(
        self,
        folder: Path,
        *,
        database: str,
        model_url: str | None,
        nodes: int = 2,
        lease_seconds: float | None = None,
        ways: Mapping[str, str] | None = None,
        env: Mapping[str, str] | None = None,
        flags: Sequence[str] = (),
    ) -> None:
        super().__init__(folder, model_url=model_url, env=env, flags=flags)
        # Held, so that nobody else is given it while no node is ready.
        self._place = socket.socket()
        self._place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._place.bind(("127.0.0.1", 0))
        self.port = self._place.getsockname()[1]
        self.shared = folder
        """The folder of workspaces that all nodes have."""
        lease = {} if lease_seconds is None else {"TENUTO_LIMITS_LEASE_SECONDS": str(lease_seconds)}
        self.env = {
            "TENUTO_DATABASE": database,
            "TENUTO_SECRET": SECRET,
            "TENUTO_TEST_FORGETFUL": "1",
            "TENUTO_WORKSPACES": str(self.shared),
            **lease,
            **self.env,
        }
        self._ways = ways or {}
        """Other addresses of the database, by the node that goes that way."""
        self.nodes = [
            TenutoServer(folder, model_url=model_url, flags=flags, node=name)
            for name in NAMES[:nodes]
        ]
        self._balancer = Proxy(
            [node.port for node in self.nodes],
            Random(seed_of(f"nodes of {folder.name}")),
            port=self.port,
        )
        self._open = AsyncExitStack()

    def node(self, name: str) -> TenutoServer:
        return self.nodes[NAMES.index(name)]

    def folder_of(self, path: str) -> Path:
        return self.shared / path

    @property
    def pid(self) -> int:
        raise NotImplementedError("a cluster is several processes: see `nodes`")

    def client(self, *, patience: Patience | None = None) -> Client:
        return WanderingClient(self.url, self.token, patience=patience)

    def log(self) -> str:
        return "".join(node.log() for node in self.nodes)

    async def start_nowait(self) -> None:
        self.shared.mkdir(parents=True, exist_ok=True)
        for node, name in zip(self.nodes, NAMES, strict=False):
            way = self._ways.get(name, self.env["TENUTO_DATABASE"])
            node.env = {**self.env, "TENUTO_NODE": name, "TENUTO_DATABASE": way}
            await node.start_nowait()

    async def ready(self) -> None:
        for node in self.nodes:
            await node.ready()
        await self._open.enter_async_context(self._balancer)

    async def kill(self) -> None:
        for node in self.nodes:
            await node.kill()
        await self._open.aclose()

    def signal_stop(self) -> None:
        for node in self.nodes:
            node.signal_stop()  # To one that has ended already it does nothing.

    async def wait(self) -> int:
        codes = [await node.wait() for node in self.nodes]
        await self._open.aclose()
        return max(codes, key=abs)

    def freeze(self) -> None:
        for node in self.nodes:
            node.freeze()

    def thaw(self) -> None:
        for node in self.nodes:
            node.thaw()

    async def close(self) -> None:
        with anyio.CancelScope(shield=True):
            for node in self.nodes:
                await node.close()
            await self._open.aclose()
            self._place.close()


class WanderingClient(Client):
    """Keeps no connection: each request is a new one, and goes to whichever node."""

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        http = self._wire._http
        assert http is not None and http.connector is not None
        http.connector._force_close = True
        return self
