"""Workers that say who they are, instead of serving: `python -m tests.cli.workers_process WORD`."""

import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

from tenuto.config import Settings
from tenuto.wiring.workers import serve_many


def serve(number: int, listening: socket.socket, on_ready: Callable[[], None]) -> int:
    if "cannot" in sys.argv:
        sys.stderr.write(f"worker {number} cannot start\n")
        return 1

    def stop(*_: object) -> None:
        sys.stderr.write(f"worker {number} was told to stop\n")
        sys.stderr.flush()
        os._exit(0)

    signal.signal(signal.SIGTERM, stop)
    on_ready()
    while True:
        connection, _ = listening.accept()
        with connection:
            connection.sendall(f"{number} {os.getpid()}\n".encode())


if __name__ == "__main__":
    port = int(sys.argv[1])
    settings = Settings(data=Path("/nowhere"), database="postgresql://h/d", port=port, workers=3)
    sys.exit(serve_many(settings, serve))
