"""What a server has started and what is left of it."""

import psutil  # type: ignore[import-untyped]

OWN = "programs/witness.py"
"""Who sees what commands change stays for a minute after the last one: it is no run's."""


def offspring(process: psutil.Process) -> list[psutil.Process]:
    """All that lives below it, but for helpers that are nobody's work."""
    found = []
    for child in process.children(recursive=True):
        try:
            line = " ".join(child.cmdline())
        except psutil.NoSuchProcess:
            continue
        if OWN not in line:
            found.append(child)
    return found
