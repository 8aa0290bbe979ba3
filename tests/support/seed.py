"""What is left to chance in the tests: the same on every day, unless a seed is given.

`make nightly` gives the day's date, so that what is never found twice is found once.
"""

import hashlib
import os

GIVEN = "TENUTO_TEST_SEED"


def is_given() -> bool:
    return GIVEN in os.environ


def seed_of(purpose: str) -> int:
    """A number of 31 bits; one that is given gives another for each purpose."""
    text = f"{purpose} {os.environ.get(GIVEN, 'always')}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) >> 1
