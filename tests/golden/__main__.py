"""Play every scene and write its file."""

import sys
import tempfile
from pathlib import Path

import anyio

from tests.api.contract.house import open_house
from tests.golden.recording import write
from tests.golden.scenes import SCENES


async def main() -> None:
    for name, scene in SCENES.items():
        with tempfile.TemporaryDirectory() as folder:
            async with open_house(Path(folder), {}) as house:
                recording = await scene(house)
        write(name, recording.told())
        sys.stdout.write(
            f"{name}: {len(recording.events)} events, {len(recording.snapshots)} snapshots\n"
        )


anyio.run(main)
