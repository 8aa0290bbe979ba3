"""Beats a thousand times a second, and notes each beat that came late; runs as its own process.

It does nothing else and, where it may, goes before everything else. So a late beat is the machine's
own doing: a neighbour's, on a shared one. `python -m bench.metronome CORE` beats on that core until
its standard input ends, then prints one JSON object.
"""

import json
import os
import sys
import threading
import time

BEAT_SECONDS = 0.001
LATE_SECONDS = 0.004
PRIORITY = 50


def main(core: int) -> None:
    os.sched_setaffinity(0, {core})
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
        first = True
    except PermissionError:
        first = False
    listening = threading.Thread(target=sys.stdin.read, daemon=True)
    listening.start()
    began, late = time.monotonic(), []
    while listening.is_alive():
        before = time.monotonic()
        time.sleep(BEAT_SECONDS)
        if (took := time.monotonic() - before) > LATE_SECONDS:
            late.append(took)
    told = {"seconds": time.monotonic() - began, "late": late, "first": first}
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
