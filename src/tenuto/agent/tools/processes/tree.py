"""Commands on a leash: when we let go, for whatever reason, their whole process tree ends.

The runner (`runner.py`) holds the tree; we hold the runner by a pipe. The pipe closes when we
close it and also when this process is killed, so there is no way to leave a command behind. The
runner starts nothing before the command comes through the pipe, and it is sent only once we have
the runner in hand: a cancel during the start has nothing to leak.

A command has the same rights as its runner. So the runner is believed only if it signs its report
with a key that came through the pipe, and ended by itself; if it was stopped or killed, we look
for what is left of the command (`survivors.py`) and end it ourselves.
"""

import asyncio
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import anyio

from tenuto.agent.tools.files.errand import in_thread
from tenuto.agent.tools.processes.survivors import end_marked, new_mark
from tenuto.core.value import Value

RUNNER = Path(__file__).with_name("runner.py")
PYTHON = (sys.executable, "-I", "-S", "-X", "utf8", "-W", "ignore")
"""How our own programs are started: fast, deaf to the environment, and without side remarks."""
READ_BYTES = 65_536
FREE_BYTES = 1_000_000
PAUSE_SECONDS = 0.002
END_SECONDS = 3.5
"""The runner needs at most 3.3 seconds to end a tree; then we do it. A cancel answers after 5."""
LOOK_SECONDS = 0.05
BEAT_SECONDS = 0.5
LAST_WORDS = (b"nowhere", b"unsafe", b"ended", b"stopped")

Hear = Callable[[bytes], None]


class Walls(Value):
    """A sandbox that the kernel keeps: all can be read but what is closed, little written."""

    writable: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()


class Command(Value):
    arguments: tuple[str, ...]
    """The first is the program's whole path."""
    folder: str = "/"
    environment: dict[str, str]
    seconds: float
    inherited: tuple[int, ...] = ()
    """Descriptors that it gets, under the same numbers."""
    speaks: tuple[int, int] | None = None
    """Two of those that become its standard input and output, and are its own from then on; only its
    errors are heard then."""
    walls: Walls | None = None
    patience: int = 0
    """Seconds after which it is ended if this process stands still; 0: it is not."""


class Exit(Value):
    status: int | None
    """Negative: the signal that ended it. None: it was stopped, because its time was up."""
    left: int = 0
    """How many processes it left in the background; they were ended."""


class Unsafe(Exception):
    """The sandbox could not be had; nothing was started."""


class Lost(Exception):
    """The runner was killed or stopped by someone else; the command was ended all the same."""


async def run(command: Command, hear: Hear) -> Exit:
    """Run to the end, or to the end of its time; every byte it says is heard in order.

    Raises OSError if the folder cannot be entered, Unsafe, and Lost.
    """
    runner = Runner(command)
    try:
        with anyio.move_on_after(command.seconds) as time:
            await runner.send(command)
            with runner.beating(command.patience):
                await runner.listen(hear)
    finally:
        said = await runner.let_go(hear)
    match said:
        case [b"nowhere", number]:
            raise OSError(int(number), os.strerror(int(number)))
        case [b"unsafe", number]:
            raise Unsafe(os.strerror(int(number)))
        case [b"ended", status, left]:
            return Exit(status=int(status), left=int(left))
        case _ if time.cancelled_caught:
            return Exit(status=None)
        case _:
            raise Lost


class Runner:
    """One runner process, in hand from before it knows what to run until nothing is left."""

    def __init__(self, command: Command) -> None:
        self._key = secrets.token_hex(16).encode()
        self._mark = new_mark()
        # Blocks for the millisecond or two of a vfork, as asyncio's own way does; but here
        # nothing can be cancelled half way, and every descriptor is ours to close.
        try:
            self._process = subprocess.Popen(
                [*PYTHON, str(RUNNER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd="/",
                env=command.environment,
                pass_fds=command.inherited,
                start_new_session=True,
            )
        finally:
            for descriptor in command.speaks or ():
                os.close(descriptor)
        self._lead, self._output, self._report = _pipes(self._process)
        self._death = _death_of(self._process)

    async def send(self, command: Command) -> None:
        """Tell it what to run."""
        walls = command.walls or Walls()
        hears, says = command.speaks or (0, 0)
        sizes = f"{len(walls.writable)} {len(walls.closed)}"
        counts = f"{sizes} {command.patience} {hears} {says}"
        words = (command.folder, counts, *walls.writable, *walls.closed, *command.arguments)
        body = b"\0".join([self._key, b"%d" % self._mark, *map(os.fsencode, words)])
        data = len(body).to_bytes(4, "big") + body
        # A runner that is gone already has closed its end; its report says so.
        with suppress(BrokenPipeError):
            while data:
                try:
                    data = data[os.write(self._lead, data) :]
                except BlockingIOError:
                    await anyio.wait_writable(self._lead)

    @contextmanager
    def beating(self, patience: int) -> Iterator[None]:
        """Tell it now and then that this process does not stand still."""
        if not patience:
            yield
            return
        beats = asyncio.get_running_loop().create_task(self._beat())
        try:
            yield
        finally:
            beats.cancel()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            # A runner that does not read has its hands full; one that is gone needs no beat.
            with suppress(BlockingIOError, BrokenPipeError):
                os.write(self._lead, b".")

    async def listen(self, hear: Hear) -> None:
        """Hear everything until the runner is dead, whoever else could still speak."""
        with anyio.CancelScope() as alive, self._at_death(alive.cancel):
            await _hear_all(self._output, hear)
        heard = 0
        with suppress(BlockingIOError):
            while heard < FREE_BYTES and (piece := os.read(self._output, READ_BYTES)):
                hear(piece)
                heard += len(piece)

    async def let_go(self, hear: Hear) -> list[bytes]:
        """End it with all it holds, and return its last words, if they are its own."""
        os.close(self._lead)
        try:
            # The pipe alone is not enough: a command may hold its other end, or have stopped us.
            for number in (signal.SIGTERM, signal.SIGCONT):
                self._process.send_signal(number)
            with anyio.move_on_after(END_SECONDS, shield=True):
                await self.listen(hear)
        finally:
            said = self._signed_words()
            for descriptor in (self._output, self._report, self._death):
                if descriptor is not None:
                    os.close(descriptor)
            if said[-1][0] not in LAST_WORDS or self._process.poll() is None:
                with anyio.CancelScope(shield=True):
                    await in_thread(lambda _: self._make_sure(said))
        return said[-1]

    def _make_sure(self, said: list[list[bytes]]) -> None:
        """If the runner was killed or hangs, end by ourselves what is left."""
        self._process.kill()
        self._process.wait()
        if self._mark:
            return end_marked(self._mark)
        for words in said:
            if words[0] == b"started":
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(int(words[1]), signal.SIGKILL)

    def _signed_words(self) -> list[list[bytes]]:
        text = b""
        with suppress(BlockingIOError):
            while len(text) < FREE_BYTES and (piece := os.read(self._report, READ_BYTES)):
                text += piece
        lines = [line.split() for line in text.splitlines()]
        signed = [line[1:] for line in lines if line and line[0] == self._key]
        return signed or [[b"nothing"]]

    @contextmanager
    def _at_death(self, call: Callable[[], None]) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        if self._death is not None:
            loop.add_reader(self._death, call)
            try:
                yield
            finally:
                loop.remove_reader(self._death)
            return
        looking = loop.create_task(_look(self._process, call))
        try:
            yield
        finally:
            looking.cancel()


def _pipes(process: "subprocess.Popen[bytes]") -> tuple[int, int, int]:
    """The three pipes as bare descriptors that never block."""
    descriptors = []
    for pipe in (process.stdin, process.stdout, process.stderr):
        assert pipe is not None
        descriptors.append(os.dup(pipe.fileno()))
        pipe.close()
    for descriptor in descriptors:
        os.set_blocking(descriptor, False)
    return descriptors[0], descriptors[1], descriptors[2]


def _death_of(process: "subprocess.Popen[bytes]") -> int | None:
    """A descriptor that can be read once the process is dead; None where there is no such thing."""
    try:
        return os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        return None


async def _look(process: "subprocess.Popen[bytes]", call: Callable[[], None]) -> None:
    while process.poll() is None:  # noqa: ASYNC110
        await asyncio.sleep(LOOK_SECONDS)
    call()


async def _hear_all(output: int, hear: Hear) -> None:
    heard = 0
    while True:
        try:
            piece = os.read(output, READ_BYTES)
        except BlockingIOError:
            await anyio.wait_readable(output)
            continue
        if not piece:
            # The runner is about to end, and that is what is waited for.
            await anyio.sleep_forever()
        hear(piece)
        heard += len(piece)
        # One that talks without end must not have the event loop for itself.
        await anyio.sleep(PAUSE_SECONDS if heard > FREE_BYTES else 0)
