"""Which of many files have a match at all, found by ripgrep where it is. Standard library only.

It only spares us most files: what is shown is found by our own reading of those that are left.
"""

import subprocess
from collections.abc import Iterator, Sequence

BATCH = 1_000
FOUND, NONE = 0, 1
"""Its exit codes; any other one says that it did not understand, or could not read something."""
OPTIONS = (
    "--no-config",
    "--no-messages",
    "--no-ignore",
    "--hidden",
    "--text",
    "--crlf",
    "--null",
    "--files-with-matches",
)


class Sieve:
    def __init__(self, program: str | None, pattern: str, folder: int) -> None:
        """`folder`: a descriptor of where paths begin."""
        self._command = [program, *OPTIONS, "--regexp", pattern, "--"] if program else []
        self._folder = folder

    def sift(self, paths: Sequence[str], *, start: int) -> Sequence[str]:
        """Those that may have a match, in their order; all, if that cannot be told."""
        if not self._command:
            return paths
        # Each from here on: a name may begin with a dash.
        names = {f"./{path[start:]}": path for path in paths}
        try:
            done = subprocess.run(
                [*self._command, *names],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=f"/proc/self/fd/{self._folder}",
                pass_fds=(self._folder,),
                check=False,
            )
        except (OSError, ValueError, UnicodeError):
            self._command = []
            return paths
        if done.returncode not in (FOUND, NONE):
            self._command = []
            return paths
        left = {name.decode("utf-8", "surrogateescape") for name in done.stdout.split(b"\0")}
        return [path for name, path in names.items() if name in left]


def batches(paths: Iterator[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    for path in paths:
        batch.append(path)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
