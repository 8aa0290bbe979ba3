"""The tour of the README, typed as it stands there, against the real server."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from tests.docs.page import ROOT, blocks
from tests.support.model_server import ModelServer, answer
from tests.support.server import QUIET

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

SECONDS = 100
STORY = "The sea was calm. " * 20
AFTERWARDS = """
api -N "$API/runs/$RUN/events" > "$TOUR/whole"
echo "$LAST" > "$TOUR/last"
for run in $RUN $STOPPED $KILLED $QUEUED; do api $API/runs/$run; echo; done > "$TOUR/runs"
"""
"""What the test wants to know before the tour's last step stops the server."""


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as model:
        # Three seconds long, so that the tour can leave, stop and kill in the middle.
        model.script(answer(STORY, pieces=60, rate=20))
        yield model


@pytest.fixture
async def toured(model: ModelServer, tmp_path: Path) -> Path:
    """The folder that the tour left, after every command of it succeeded."""
    *steps, farewell = blocks(ROOT / "README.md", "bash tour")
    script = "\n".join(["set -eu", *steps, AFTERWARDS, farewell])
    (tmp_path / ".venv").symlink_to(sys.prefix)
    environ = QUIET | {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path),
        "PORT": str(_free_port()),
        "OPENAI_API_KEY": "no-key",
        "OPENAI_BASE_URL": model.url,
    }
    return await anyio.to_thread.run_sync(_tour, script, tmp_path, environ)


def _tour(script: str, cwd: Path, environ: dict[str, str]) -> Path:
    code, said = _bash(script, cwd, environ)
    (log,) = cwd.glob("tmp.*/log")
    assert code == 0, said + log.read_text()
    return log.parent


def _bash(script: str, cwd: Path, environ: dict[str, str]) -> tuple[int, str]:
    with subprocess.Popen(
        ["bash", "-c", script],
        cwd=cwd,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as bash:
        try:
            said, _ = bash.communicate(timeout=SECONDS)
            return bash.returncode, said
        finally:
            _end_group(bash.pid)


def _end_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return  # The tour has cleaned up after itself.


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def frames(path: Path) -> list[tuple[int, str]]:
    """Number and data of each whole frame."""
    found = re.finditer(r"^id: (\d+)\nevent: .*\ndata: (.*)\n\n", path.read_text(), re.MULTILINE)
    return [(int(match[1]), match[2]) for match in found]


def text_of(message: dict[str, Any]) -> str:
    return "".join(part["text"] for part in message["parts"] if part["type"] == "text")


async def test_the_tour_shows_what_it_says(toured: Path) -> None:
    first, rest, whole = (frames(toured / name) for name in ("first", "rest", "whole"))
    last = int((toured / "last").read_text())
    assert first[-1][0] == last
    assert '"run.finished"' not in first[-1][1]
    assert first + rest == whole
    assert '"run.finished"' in rest[-1][1]

    runs = [json.loads(line) for line in (toured / "runs").read_text().splitlines() if line]
    assert [run["status"] for run in runs] == [
        "completed",
        "cancelled",
        "interrupted",
        "completed",
    ]

    messages = json.loads((toured / "messages").read_text())["messages"]
    assert [text_of(message) for message in messages if message["role"] == "user"] == [
        "Tell me a story of the sea.",
        "Another one, longer.",
        "And one more.",
        "Thank you.",
    ]
    answers = [message for message in messages if message["role"] == "assistant"]
    assert [message["finish_reason"] for message in answers] == [
        "end_turn",
        "cancelled",
        "interrupted",
        "end_turn",
    ]
    told = [text_of(message) for message in answers]
    assert told[0] == told[3] == STORY
    for partial in told[1:3]:
        assert partial
        assert STORY.startswith(partial)
