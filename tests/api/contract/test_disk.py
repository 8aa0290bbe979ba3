"""A disk that is full, or whose database is gone: said plainly, and a stop still stops."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from tests.api.contract.house import House, open_house, refused
from tests.support.watch import until

pytestmark = [pytest.mark.anyio, pytest.mark.guarantee("E1")]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own with eight megabytes, where the tests may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("mounting a disk takes root")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def fill(disk: Path) -> Path:
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            return filler


async def says(house: House, status: int) -> None:
    async def is_so() -> bool:
        return (await house.api.call("GET", "/readyz")).status == status

    await until(is_so)


@pytest.mark.one_node("it looks at the database's file")
async def test_on_a_full_disk_a_cancel_closes_the_providers_connection(disk: Path) -> None:
    async with open_house(disk, {}) as house:
        session_id = await house.session()
        run, exchange = await house.held(session_id, "hi")
        await exchange.text("Hello")
        filler = fill(disk)
        # Something must be refused before anyone knows that the disk is full.
        detail = refused(
            await house.api.post("/api/sessions", {"title": "x" * 200, "system": "x" * 90_000}),
            503,
            "storage_unavailable",
        )
        assert str(disk) not in detail
        answer = await house.api.post(f"/api/sessions/{session_id}/cancel", {})
        assert answer.status == 200
        with anyio.fail_after(15):
            await exchange.closed()
        filler.unlink()
        ended = await house.ended(run["id"])
        assert (ended["status"], ended["reason"]) == ("cancelled", "user")
        assert str(disk) not in str(ended)
        await says(house, 200)


@pytest.mark.one_node("it looks at the database's file")
async def test_a_database_that_is_taken_away_is_noticed_and_accepts_nothing(
    tmp_path: Path,
) -> None:
    async with open_house(tmp_path, {}) as house:
        session_id = await house.session()
        database = house.server.data / "tenuto.sqlite3"
        away = database.with_name("away")
        database.rename(away)
        await says(house, 503)
        detail = refused(await house.api.call("GET", "/readyz"), 503, "storage_unavailable")
        assert str(tmp_path) not in detail
        answer = await house.api.post(f"/api/sessions/{session_id}/runs", {"input": "hi"})
        refused(answer, 503, "storage_unavailable")
        away.rename(database)
        await says(house, 200)
        await house.answered(session_id, "hi", "Back.")
