"""A process that waits to be told, or is killed, with a file's new content beside it."""

import os
import signal
import sys
from pathlib import Path

import anyio

from tenuto.agent.tools.files.drafts import Drafts
from tenuto.agent.tools.files.errand import Threads
from tenuto.agent.tools.files.hand import FileHand
from tenuto.core.file_change import FileState, digest_of
from tenuto.ports.changes import SeenFile
from tenuto.ports.points import Points, Step
from tests.tools.desk import Desk

PATH = "made/new.txt"
CONTENT = b"new"


class Dying:
    armed = True

    def reach(self, step: Step, what: str = "") -> None:
        if step is Step.FILE_DRAFTED:
            os.kill(os.getpid(), signal.SIGKILL)


class Waiting:
    armed = True

    def reach(self, step: Step, what: str = "") -> None:
        if step is Step.FILE_DRAFTED:
            os.write(sys.stdout.fileno(), b"there\n")
            os.read(sys.stdin.fileno(), 1)


async def write(drafts: Drafts, data: Path, folder: Path) -> None:
    desk = Desk(folder, data=data, drafts=drafts)
    await desk.run("write_file", path=PATH, content=CONTENT.decode())


async def put(drafts: Drafts, data: Path, folder: Path) -> None:
    hand = FileHand(Threads(1), data, drafts)
    state = FileState(digest=digest_of(CONTENT), size=len(CONTENT), mode=0o644)
    await hand.put(await hand.look(folder, PATH), SeenFile(state=state, content=CONTENT))


WAYS = {"write": write, "put": put}
POINTS: dict[str, Points] = {"dying": Dying(), "waiting": Waiting()}


def main() -> None:
    how, then, data, folder = sys.argv[1:]
    drafts = Drafts(Path(data), POINTS[then])
    anyio.run(WAYS[how], drafts, Path(data), Path(folder))


if __name__ == "__main__":
    main()
