"""Several workers on one socket: all answer, one that dies comes again, and a stop stops all."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECONDS = 20.0


@contextmanager
def workers(*words: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    parent = subprocess.Popen(
        [sys.executable, "-m", "tests.cli.workers_process", str(port), *words],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield parent, port
    finally:
        if parent.poll() is None:
            parent.terminate()
        parent.communicate(timeout=SECONDS)


def who(port: int) -> tuple[int, int] | None:
    """The number and the process of whoever answers; None: nobody does."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1.0) as asked:
            said = asked.makefile().readline().split()
    except OSError:
        return None
    return (int(said[0]), int(said[1])) if said else None


def until(port: int, enough: Callable[[dict[int, int]], bool]) -> dict[int, int]:
    """Ask until the workers that answered, by their number, are enough."""
    found: dict[int, int] = {}
    give_up_at = time.monotonic() + SECONDS
    while not enough(found):
        assert time.monotonic() < give_up_at, found
        answer = who(port)
        if answer:
            found[answer[0]] = answer[1]
    return found


def gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


def test_all_answer_on_one_port_and_a_stop_reaches_each() -> None:
    with workers() as (parent, port):
        found = until(port, lambda found: len(found) == 3)
        assert len({*found.values(), parent.pid}) == 4
        parent.terminate()
        _, said = parent.communicate(timeout=SECONDS)
    assert parent.returncode == 0
    assert said.count("was told to stop") == 3
    assert all(gone(process) for process in found.values())


def test_one_that_is_killed_comes_again() -> None:
    with workers() as (_, port):
        before = until(port, lambda found: len(found) == 3)
        os.kill(before[2], signal.SIGKILL)
        after = until(port, lambda found: found.get(2, before[2]) != before[2])
        assert after[2] != before[2]
        now = until(port, lambda found: len(found) == 3)
        assert (now[1], now[3]) == (before[1], before[3])


def test_what_keeps_all_from_starting_ends_them_all() -> None:
    with workers("cannot") as (parent, _):
        _, said = parent.communicate(timeout=SECONDS)
    assert parent.returncode == 1
    assert said.count("cannot start") <= 3


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's end")
def test_workers_do_not_outlive_a_parent_that_was_killed() -> None:
    with workers() as (parent, port):
        found = until(port, lambda found: len(found) == 3)
        parent.kill()
        parent.wait()
        give_up_at = time.monotonic() + SECONDS
        while not all(gone(process) for process in found.values()):
            assert time.monotonic() < give_up_at
            time.sleep(0.01)


def test_an_address_that_is_taken_is_said(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        database = "postgresql://127.0.0.1:1/none"
        flags = ["--port", port, "--workers", "2", "--database", database, "--data", str(tmp_path)]
        said = subprocess.run(
            [sys.executable, "-m", "tenuto", "serve", *flags],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    assert said.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}" in said.stderr
