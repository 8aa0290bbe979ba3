"""Keys that a command prints, such as one of a password manager."""

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Mapping

from tenuto.config.secret import Secret

SECONDS = 10.0
KEY = re.compile(r"[!-~]{1,4000}")


class CommandFailed(Exception):
    """There is no key; the reason tells nothing that the command printed."""


def printed(command: str, environ: Mapping[str, str], *, seconds: float = SECONDS) -> Secret:
    """The one line that this shell command prints. Raises CommandFailed."""
    try:
        child = subprocess.Popen(
            command,
            shell=True,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise CommandFailed(f"the command cannot be run: {error}") from None
    try:
        said, _ = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        raise CommandFailed(f"the command took more than {seconds:g} seconds") from None
    finally:
        _end(child)
    if child.returncode != 0:
        raise CommandFailed(f"the command failed (exit code {child.returncode})")
    key = said.decode("utf-8", "replace").strip()
    if not KEY.fullmatch(key):
        raise CommandFailed("the command must print one line, the key, without spaces")
    return Secret(key)


def _end(child: subprocess.Popen[bytes]) -> None:
    """With all that it started: a grandchild would hold the line open for ever."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    if child.stdout:
        child.stdout.close()
