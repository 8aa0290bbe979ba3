"""The server with a clock that is wrong: `python -m tests.support.skewed serve …`.

`TENUTO_TEST_SKEW` says by how many seconds it is ahead. All else is the real thing.
"""

import os
import time
from typing import Any

from tenuto import clock
from tenuto.cli import main

AHEAD_NANOSECONDS = int(float(os.environ.get("TENUTO_TEST_SKEW", "0")) * 1e9)


class WrongTime:
    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)

    def time_ns(self) -> int:
        return time.time_ns() + AHEAD_NANOSECONDS


if __name__ == "__main__":
    vars(clock)["time"] = WrongTime()
    main()
