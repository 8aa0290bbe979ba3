"""A slow disk: another process that keeps the server's file system busy with writes and syncs.

Run as `python -m tests.proof.history.disk FOLDER`; it goes on until it is ended.
"""

import os
import sys
import tempfile

BLOCK = b"\0" * (4 << 20)
BLOCKS = 16


def main() -> None:
    with tempfile.TemporaryFile(dir=sys.argv[1], buffering=0) as file:
        while True:
            file.seek(0)
            for _ in range(BLOCKS):
                file.write(BLOCK)
                os.fsync(file.fileno())


if __name__ == "__main__":
    main()
