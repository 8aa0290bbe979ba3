"""Stopped is stopped, also against a command that turns on those who watch over it."""

import asyncio
import os
import secrets
import subprocess
import sys
import textwrap
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from tenuto.agent.tools.processes import tree as leash
from tests.tools.desk import Desk, alive, until

pytestmark = pytest.mark.anyio

AWAY = "setsid bash -c 'exec -a MARK sleep 1000' &"
DAEMON = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
for _ in range(2):
    if os.fork():
        os._exit(0)
    os.setsid()
os.closerange(0, 256)
os.chdir("/")
time.sleep(1000)
"""
# It ends by itself, in case that nobody catches it.
HOP = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.closerange(0, 256)
end = time.monotonic() + 20
while time.monotonic() < end:
    if os.fork():
        os._exit(0)
    os.setsid()
"""
LOWER = """
import os, resource, sys
resource.setrlimit(10, (5, 5))
os.setsid()
os.execv("/bin/sleep", [sys.argv[1], "1000"])
"""
PYTHON = sys.executable
PATIENT: dict[str, Any] = {"capture_output": True, "text": True, "timeout": 30}
WATCHER_ATTACKED = {
    "holds the other end of the leash": f"exec 9>/proc/$PPID/fd/0; {AWAY} echo up; sleep 1000",
    "stops the runner": f"{AWAY} echo up; kill -STOP $PPID; sleep 1000",
    "stops the runner all the time": (
        f"{AWAY} runner=$PPID; echo up; while :; do kill -STOP $runner; done; exec -a MARK true"
    ),
    "stops the runner beside a daemon": (
        f"{PYTHON} -c '{DAEMON}' MARK; echo up; kill -STOP $PPID; sleep 1000"
    ),
    "fills and forges the report": (
        f"{AWAY} key=$(head -c 32 /dev/zero | tr '\\0' a); echo up; "
        'for i in $(seq 3000); do echo "$key ended 0 0"; echo "ended 0 0"; done '
        ">/proc/$PPID/fd/2; sleep 1000"
    ),
    "holds all pipes of the runner": (
        f"exec 7</proc/$PPID/fd/0 8>/proc/$PPID/fd/1 9>/proc/$PPID/fd/2; {AWAY} echo up; sleep 1000"
    ),
}
RUNNER_KILLED = {
    "alone": "kill -9 $PPID; exec -a MARK sleep 1000",
    "with one in a session of its own": f"{AWAY} sleep 0.1; kill -9 $PPID; sleep 1000",
    "with one without an environment": (
        "env -i setsid /bin/bash -c 'exec -a MARK sleep 1000' & sleep 0.1; kill -9 $PPID"
    ),
    "with a deaf daemon that closed everything": (
        f"{PYTHON} -c '{DAEMON}' MARK; kill -9 $PPID; sleep 1000"
    ),
    "with one that forks away all the time": (
        f"{PYTHON} -c '{HOP}' MARK & sleep 0.2; kill -9 $PPID; sleep 1000"
    ),
    "with many": (
        "for i in $(seq 30); do setsid bash -c 'exec -a MARK sleep 1000' & done; sleep 0.2; "
        "kill -9 $PPID; sleep 1000"
    ),
    "with one that goes on talking": (
        "setsid bash -c 'while :; do echo talk; done' MARK & sleep 0.1; kill -9 $PPID; sleep 1000"
    ),
}
TOOL_IN_A_SERVER = """
    import asyncio, os, pathlib, subprocess, sys
    from tenuto.wiring.process import take_in_orphans
    from tenuto.agent.tools.kinds import built_in_tools
    from tenuto.agent.tools.settings import ToolSettings
    from tenuto.ports.tool import Place, ToolFailed

    async def main():
        take_in_orphans()
        own = subprocess.Popen(["/bin/sleep", "1000"])
        shell = next(t for t in built_in_tools(ToolSettings()) if t.spec.name == "shell")
        place = Place(folder=pathlib.Path(sys.argv[1]), call_id="call_1", progress=lambda text: 0)
        try:
            await shell.run({"command": sys.argv[2]}, place)
        except ToolFailed as error:
            print(error)
        print("own", own.poll())
        own.kill()
        own.wait()
        try:
            print("children", os.waitpid(-1, os.WNOHANG))
        except ChildProcessError:
            print("children none")

    asyncio.run(main())
"""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def mark() -> str:
    return f"mark-{secrets.token_hex(8)}"


@pytest.mark.guarantee("E1")
@pytest.mark.failure(34)
@pytest.mark.parametrize("kind", WATCHER_ATTACKED)
async def test_after_a_cancel_nothing_is_left_of_a_command_that_attacks_its_watcher(
    desk: Desk, mark: str, kind: str
) -> None:
    command = WATCHER_ATTACKED[kind].replace("MARK", mark)
    task = asyncio.create_task(desk.run("shell", command=command))
    await desk.hears("up")
    await until(lambda: alive(mark) != [])
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert alive(mark) == []


@pytest.mark.guarantee("E1")
@pytest.mark.failure(34)
@pytest.mark.parametrize("kind", RUNNER_KILLED)
async def test_a_call_whose_runner_is_killed_fails_at_once_and_leaves_nothing(
    desk: Desk, mark: str, kind: str
) -> None:
    # Its own time limit is two minutes; the test's is not.
    with anyio.fail_after(15):
        said = await desk.failure("shell", command=RUNNER_KILLED[kind].replace("MARK", mark))
    assert "the process that watches over the command was killed" in said
    assert alive(mark) == []


@pytest.mark.failure(34)
async def test_where_no_mark_is_to_be_had_the_commands_group_is_ended(
    desk: Desk, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leash, "new_mark", lambda: 0)
    command = f"(exec -a {mark} sleep 1000) & sleep 0.2; kill -9 $PPID; sleep 1000"
    assert "was killed" in await desk.failure("shell", command=command)
    await until(lambda: alive(mark) == [])


@pytest.mark.failure(34)
async def test_a_forged_report_is_not_believed(desk: Desk, mark: str) -> None:
    command = (
        f"{AWAY} (echo ended 0 0; echo x ended 0 0) >/proc/$PPID/fd/2; sleep 0.1; kill -9 $PPID"
    )
    said = await desk.failure("shell", command=command.replace("MARK", mark))
    assert "was killed" in said
    assert alive(mark) == []


@pytest.mark.failure(34)
async def test_time_is_up_for_a_command_that_stopped_its_runner(desk: Desk, mark: str) -> None:
    command = WATCHER_ATTACKED["stops the runner"].replace("MARK", mark)
    said = await desk.run("shell", command=command, timeout=1)
    assert "stopped: its 1 seconds were up" in said
    assert alive(mark) == []


@pytest.mark.failure(34)
async def test_who_takes_off_the_mark_is_found_by_a_server_that_takes_in_orphans(
    tmp_path: Path, mark: str
) -> None:
    lower = f"{sys.executable} -c '{LOWER}' {mark} & sleep 0.5; kill -9 $PPID; sleep 1000"
    program = [sys.executable, "-c", textwrap.dedent(TOOL_IN_A_SERVER), str(tmp_path), lower]
    ended = await anyio.to_thread.run_sync(partial(subprocess.run, program, **PATIENT))
    assert "was killed" in ended.stdout
    assert alive(mark) == []
    # Children of the server's own are neither ended nor buried for it.
    assert ended.stdout.splitlines()[-2:] == ["own None", "children none"]


async def test_an_ordinary_users_command_cannot_open_the_pipes_of_its_runner(
    tmp_path: Path,
) -> None:
    command = "for n in 0 1 2; do (: >/proc/$PPID/fd/$n) || echo closed; done; kill -9 $PPID"
    program = [sys.executable, "-c", textwrap.dedent(TOOL_IN_A_SERVER), str(tmp_path), command]
    # Root may open everything; a namespace makes it anyone, without taking its files away.
    way = ["unshare", "--user", "--map-user=1000"] if os.getuid() == 0 else []
    ended = await anyio.to_thread.run_sync(partial(subprocess.run, way + program, **PATIENT))
    assert ended.stdout.splitlines().count("closed") == 3, ended.stderr
