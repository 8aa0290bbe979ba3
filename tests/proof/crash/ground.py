"""What a cycle's server keeps its data on: a file of its own, or a database of its own."""

import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import StrEnum
from itertools import count
from pathlib import Path
from typing import Protocol

import asyncpg

from tenuto.ports.points import Step
from tests.support.postgres import folder_for_all, fresh_database, started


class Kind(StrEnum):
    SQLITE = "sqlite"
    POSTGRES = "postgres"

    @property
    def without(self) -> frozenset[Step]:
        """Steps that there are only in the other one."""
        return ONLY[Kind.SQLITE if self is Kind.POSTGRES else Kind.POSTGRES]


ONLY = {
    Kind.SQLITE: frozenset({Step.TELLING, Step.CHECKPOINTING, Step.CHECKPOINTED}),
    Kind.POSTGRES: frozenset(
        {
            Step.ASKING_AGAIN,
            Step.LEASING,
            Step.LEASED,
            Step.BURYING,
            Step.BURIED,
            Step.RINGING,
            Step.RUNG,
            Step.SEQUENCING,
            Step.SEQUENCED,
        }
    ),
}


class Ground(Protocol):
    kind: Kind

    async def prepare(self, folder: Path) -> dict[str, str]:
        """Room for one cycle: what its servers are told of it."""

    async def clear(self, env: dict[str, str]) -> None:
        """That cycle is over, and nothing was wrong."""


class FileGround:
    kind = Kind.SQLITE

    async def prepare(self, folder: Path) -> dict[str, str]:
        return {}

    async def clear(self, env: dict[str, str]) -> None:
        return


class PostgresGround:
    kind = Kind.POSTGRES

    def __init__(self, url: str) -> None:
        self._url = url
        self._numbers = count(1)

    async def prepare(self, folder: Path) -> dict[str, str]:
        url = await fresh_database(self._url, f"crash-{next(self._numbers)}")
        return {
            "TENUTO_DATABASE": url,
            "TENUTO_WORKSPACES": str(folder),
            "TENUTO_TEST_FORGETFUL": "1",
        }

    async def clear(self, env: dict[str, str]) -> None:
        name = env["TENUTO_DATABASE"].rpartition("/")[2]
        connection = await asyncpg.connect(self._url)
        try:
            await connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        finally:
            await connection.close()


@asynccontextmanager
async def ground(kind: Kind) -> AsyncIterator[Ground]:
    if kind is Kind.SQLITE:
        yield FileGround()
        return
    folder = folder_for_all()
    # In this thread: it ends with the one that started it.
    server = started(folder)
    try:
        yield PostgresGround(server.url)
    finally:
        server.stop(signal.SIGQUIT)
        shutil.rmtree(folder, ignore_errors=True)
