"""Asks `/healthz` every 50 ms and notes how long each answer took; runs as its own process.

`python -m bench.pulse PORT` asks until its standard input ends, then prints one JSON object.
"""

import http.client
import json
import sys
import threading
import time

PAUSE_SECONDS = 0.05
PATIENCE_SECONDS = 60.0


def main(port: int) -> None:
    listening = threading.Thread(target=sys.stdin.read, daemon=True)
    listening.start()
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    waits = []
    while listening.is_alive():
        before = time.monotonic()
        line.request("GET", "/healthz")
        line.getresponse().read()
        waits.append(time.monotonic() - before)
        time.sleep(PAUSE_SECONDS)
    sys.stdout.write(json.dumps(waits) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
