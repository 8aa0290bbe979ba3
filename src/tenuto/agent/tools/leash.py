"""Commands on a leash: when we let go, for whatever reason, their whole process tree ends.

The runner (`runner.py`) holds the tree; we hold the runner by a pipe. The pipe closes when we
close it and also when this process is killed, so there is no way to leave a command behind. The
runner starts nothing before the command comes through the pipe, and it is sent only once we have
the runner in hand: a cancel during the start has nothing to leak.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import anyio

from tenuto.core.value import Value

RUNNER = Path(__file__).with_name("runner.py")
PYTHON = (sys.executable, "-I", "-S", "-X", "utf8", "-W", "ignore")
"""How our own programs are started: fast, deaf to the environment, and without side remarks."""
READ_BYTES = 65_536
FREE_BYTES = 1_000_000
PAUSE_SECONDS = 0.002
END_SECONDS = 4.5
"""The runner needs at most 3.3 seconds to end a tree; a cancel answers after 5."""
LOOK_SECONDS = 0.002

Hear = Callable[[bytes], None]


class Command(Value):
    arguments: tuple[str, ...]
    """The first is the program's whole path."""
    folder: str | None = None
    """Where it runs; None: where nothing of ours is."""
    environment: dict[str, str]
    seconds: float
    inherited: tuple[int, ...] = ()
    """Descriptors that it gets, under the same numbers."""


class Exit(Value):
    status: int | None
    """Negative: the signal that ended it. None: it was stopped, because its time was up."""
    left: int = 0
    """How many processes it left in the background; they were ended."""


async def run(command: Command, hear: Hear) -> Exit:
    """Run to the end, or to the end of its time; every byte it says is heard in order."""
    runner = _start(command)
    lead, output, report = _pipes(runner)
    try:
        with anyio.move_on_after(command.seconds):
            await _send(lead, _packed(command.arguments))
            await _listen(output, hear)
    finally:
        os.close(lead)
        try:
            with anyio.move_on_after(END_SECONDS, shield=True):
                await _listen(output, hear)
                await _dead(runner)
        finally:
            said = _read_report(report)
            os.close(output)
            os.close(report)
            _make_sure(runner, said)
    return _exit(said)


def _start(command: Command) -> "subprocess.Popen[bytes]":
    # Blocks for the millisecond or two of a vfork, as asyncio's own way does; but here nothing
    # can be cancelled half way, and every descriptor is ours to close.
    return subprocess.Popen(
        [*PYTHON, str(RUNNER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        cwd=command.folder or "/",
        env=command.environment,
        pass_fds=command.inherited,
        start_new_session=True,
    )


def _pipes(runner: "subprocess.Popen[bytes]") -> tuple[int, int, int]:
    """The three pipes as bare descriptors that never block."""
    descriptors = []
    for pipe in (runner.stdin, runner.stdout, runner.stderr):
        assert pipe is not None
        descriptors.append(os.dup(pipe.fileno()))
        pipe.close()
    for descriptor in descriptors:
        os.set_blocking(descriptor, False)
    return descriptors[0], descriptors[1], descriptors[2]


def _packed(arguments: tuple[str, ...]) -> bytes:
    body = b"\0".join(os.fsencode(argument) for argument in arguments)
    return len(body).to_bytes(4, "big") + body


async def _send(lead: int, data: bytes) -> None:
    # A runner that is gone already has closed its end; its report says so.
    with suppress(BrokenPipeError):
        while data:
            try:
                data = data[os.write(lead, data) :]
            except BlockingIOError:
                await anyio.wait_writable(lead)


async def _listen(output: int, hear: Hear) -> None:
    """Hear everything until the last process that could speak is gone."""
    heard = 0
    while True:
        try:
            piece = os.read(output, READ_BYTES)
        except BlockingIOError:
            await anyio.wait_readable(output)
            continue
        if not piece:
            return
        hear(piece)
        heard += len(piece)
        # One that talks without end must not have the event loop for itself.
        await anyio.sleep(PAUSE_SECONDS if heard > FREE_BYTES else 0)


async def _dead(runner: "subprocess.Popen[bytes]") -> None:
    # All its pipes are closed, so this is a matter of a millisecond.
    while runner.poll() is None:  # noqa: ASYNC110
        await anyio.sleep(LOOK_SECONDS)


def _read_report(report: int) -> list[list[str]]:
    try:
        text = os.read(report, READ_BYTES).decode(errors="replace")
    except BlockingIOError:
        return []
    return [line.split() for line in text.splitlines() if line.strip()]


def _make_sure(runner: "subprocess.Popen[bytes]", said: list[list[str]]) -> None:
    """If the runner was killed or hangs, end what we know of by ourselves."""
    if said and said[-1][0] in ("ended", "stopped") and runner.poll() is not None:
        return
    for line in said:
        if line[0] == "started":
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(int(line[1]), signal.SIGKILL)
    runner.kill()
    runner.wait()


def _exit(said: list[list[str]]) -> Exit:
    match said:
        case [*_, ["ended", status, left]]:
            return Exit(status=int(status), left=int(left))
        case [*_, ["stopped", left]]:
            return Exit(status=None, left=int(left))
        case _:
            # Its runner was killed from outside, and with it the command.
            return Exit(status=-signal.SIGKILL)
