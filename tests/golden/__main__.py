"""Play every scene and write its file."""

import sys
import tempfile
from pathlib import Path

import anyio

from tests.api.contract.house import open_house
from tests.golden.scenes import SCENES
from tests.golden.tale import write


async def main() -> None:
    for name, scene in SCENES.items():
        with tempfile.TemporaryDirectory() as folder:
            async with open_house(Path(folder), {}) as house:
                tale = await scene(house)
        write(name, tale.told())
        sys.stdout.write(f"{name}: {len(tale.events)} events, {len(tale.snapshots)} snapshots\n")


anyio.run(main)
