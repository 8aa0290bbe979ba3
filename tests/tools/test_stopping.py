"""Stopped is stopped: of a shell command nothing is left, whatever it does and whoever dies."""

import asyncio
import fcntl
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import anyio
import pytest

from tenuto.agent.tools.files import walking
from tests.tools.desk import Desk, alive, holders, until

pytestmark = pytest.mark.anyio

DEAF = "trap '' TERM INT HUP; echo up; while :; do /bin/sleep 0.05; done"
# Ends by itself, in case a broken runner lets it get away: nobody could catch it by hand.
HOP = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("up", flush=True)
end = time.monotonic() + 20
while time.monotonic() < end:
    if os.fork():
        os._exit(0)
    os.setsid()
"""
ORPHAN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork():
    time.sleep(1000)
os.setsid()
if os.fork():
    os._exit(0)
os.chdir("/")
print("up", flush=True)
time.sleep(1000)
"""
HOSTILE = {
    "a plain one": "echo up; exec -a MARK sleep 1000",
    "one deaf to TERM": f'bash -c "{DEAF}" MARK; true',
    "one with a session of its own": f'setsid bash -c "{DEAF}" MARK & wait',
    "one without an environment": f'env -i setsid /bin/bash -c "{DEAF}" MARK & wait',
    "an orphan by two forks": f"{sys.executable} -c '{ORPHAN}' MARK",
    "one that forks away all the time": f"{sys.executable} -c '{HOP}' MARK & sleep 1000",
    "one that stopped itself": "bash -c 'echo up; kill -STOP $$; :' MARK; sleep 1000",
    "many at once": "for i in $(seq 20); do (exec -a MARK sleep 1000) & done; echo up; wait",
}
TOOL_IN_A_SERVER = """
    import asyncio, pathlib, sys
    from tenuto.agent.tools.kinds import built_in_tools
    from tenuto.agent.tools.settings import ToolSettings
    from tenuto.ports.tool import Place

    async def main():
        shell = next(t for t in built_in_tools(ToolSettings()) if t.spec.name == "shell")
        said = lambda text: print(text, flush=True)
        place = Place(folder=pathlib.Path(sys.argv[1]), call_id="call_1", progress=said)
        await shell.run({"command": sys.argv[2]}, place)

    asyncio.run(main())
"""


@pytest.mark.failure(34)
@pytest.mark.parametrize("kind", HOSTILE)
async def test_after_a_cancel_nothing_of_the_command_is_left(
    desk: Desk, mark: str, kind: str
) -> None:
    lock = desk.folder / "lock"
    command = f"exec 9>{lock}; flock 9; {HOSTILE[kind]}".replace("MARK", mark)
    async with anyio.create_task_group() as group:
        group.start_soon(_shell, desk, command)
        await desk.hears("up")
        assert _is_held(lock)
        group.cancel_scope.cancel()
    assert not _is_held(lock)
    assert alive(mark) == []


@pytest.mark.failure(34)
async def test_a_cancel_that_comes_as_a_task_cancel_leaves_nothing_either(
    desk: Desk, mark: str
) -> None:
    command = HOSTILE["an orphan by two forks"].replace("MARK", mark)
    task = asyncio.create_task(desk.run("shell", command=command))
    await desk.hears("up")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert alive(mark) == []


@pytest.mark.failure(34)
@pytest.mark.parametrize("kind", ["an orphan by two forks", "one without an environment"])
async def test_a_command_whose_time_is_up_ends_with_all_it_started(
    desk: Desk, mark: str, kind: str
) -> None:
    said = await desk.run("shell", command=HOSTILE[kind].replace("MARK", mark), timeout=1.5)
    assert "up" in said
    assert "stopped: its 1.5 seconds were up" in said
    assert alive(mark) == []


@pytest.mark.failure(34)
@pytest.mark.parametrize("kind", ["an orphan by two forks", "one deaf to TERM"])
async def test_the_command_dies_with_a_server_that_is_killed(
    tmp_path: Path, mark: str, kind: str
) -> None:
    program = [sys.executable, "-c", textwrap.dedent(TOOL_IN_A_SERVER), str(tmp_path)]
    server = _started([*program, HOSTILE[kind].replace("MARK", mark)])
    assert server.stdout is not None
    try:
        assert server.stdout.readline() == b"up\n"
        assert alive(mark)
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
    await until(lambda: alive(mark) == [])


@pytest.mark.failure(34)
@pytest.mark.parametrize("kind", ["scope", "task"])
async def test_a_cancel_at_any_moment_of_the_start_leaks_nothing(
    desk: Desk, mark: str, kind: str
) -> None:
    command = f"setsid bash -c 'exec -a {mark} sleep 1000' & (exec -a {mark} sleep 1000) & wait"
    for step in range(24):
        task = asyncio.create_task(_with_time(desk, command, step * 0.005, kind))
        await asyncio.sleep(step * 0.005)
        if kind == "task":
            task.cancel()
        await asyncio.wait([task])
        assert alive(mark) == []


@pytest.mark.failure(34)
async def test_what_a_finished_command_left_in_the_background_is_ended_and_said(
    desk: Desk, mark: str
) -> None:
    command = f"setsid bash -c 'exec -a {mark} sleep 1000' & (exec -a {mark} sleep 1000) & echo hi"
    said = await desk.run("shell", command=command)
    assert (
        said
        == "hi\n[2 processes left in the background: ended; use start_job for what is to go on]"
    )
    assert alive(mark) == []


@pytest.mark.failure(34)
async def test_a_command_that_kills_its_runner_ends_too(desk: Desk, mark: str) -> None:
    command = f"echo hi; sleep 0.2; kill -9 $PPID; exec -a {mark} sleep 1000"
    said = await desk.failure("shell", command=command)
    assert said.startswith("hi\n[the process that watches over the command was killed")
    assert alive(mark) == []


@pytest.mark.failure(34)
async def test_a_cancelled_search_leaves_no_process(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking, "PROGRAMS", "")
    (desk.folder / "a.txt").write_text("a" * 60 + "!")
    async with anyio.create_task_group() as group:
        group.start_soon(_search, desk, "(a+)+$")
        await until(lambda: holders(desk.folder / "a.txt") != [])
        group.cancel_scope.cancel()
    assert holders(desk.folder / "a.txt") == []


@pytest.mark.failure(54)
async def test_calls_leave_no_descriptor_open_and_no_dead_child(desk: Desk) -> None:
    await desk.run("shell", command="true")
    await desk.run("list_files")
    before, others = len(os.listdir("/proc/self/fd")), _children()
    for _ in range(46):
        await desk.run("shell", command="true")
    await desk.run("list_files")
    await desk.run("search_files", pattern="x")
    await desk.failure("search_files", pattern="(")
    with anyio.move_on_after(0.2):
        await desk.run("shell", command="sleep 1000")
    assert len(os.listdir("/proc/self/fd")) == before
    assert _children() == others


async def _shell(desk: Desk, command: str) -> None:
    await desk.run("shell", command=command)


async def _search(desk: Desk, pattern: str) -> None:
    await desk.run("search_files", pattern=pattern)


async def _with_time(desk: Desk, command: str, seconds: float, kind: str) -> None:
    with anyio.move_on_after(seconds if kind == "scope" else 1000):
        await desk.run("shell", command=command)


def _is_held(lock: Path) -> bool:
    """Whether any descendant lives: all inherit the lock, and none can hide from it by moving."""
    with lock.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _children() -> set[str]:
    """All of this process, the dead ones that nobody has waited for too."""
    lists = Path("/proc/self/task").glob("*/children")
    return {child for children in lists for child in children.read_text().split()}


def _started(program: list[str]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(program, stdout=subprocess.PIPE)
