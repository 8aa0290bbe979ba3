"""The same fixtures as the API's tests, and a seed that a failing storm prints."""

import os
import random
import sys

import pytest

from tests.api.conftest import model, raw, server, server_env, session, tenuto

__all__ = ["model", "raw", "server", "server_env", "session", "tenuto"]


@pytest.fixture
def seed() -> int:
    """Told in the report of a test that fails; STORM_SEED makes the same choices again."""
    seed = int(os.environ.get("STORM_SEED") or random.SystemRandom().randrange(2**32))
    sys.stdout.write(f"STORM_SEED={seed}\n")
    return seed
