"""The same fixtures as the API's tests, and a seed that a failing storm prints."""

import random
import sys

import pytest

from tests.api.conftest import model, raw, server, server_env, session, tenuto

__all__ = ["model", "raw", "server", "server_env", "session", "tenuto"]


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """Told in the report of a test that fails; `--seed` plays the same choices again."""
    given: int | None = request.config.getoption("--seed")
    seed = given if given is not None else random.SystemRandom().randrange(2**32)
    sys.stdout.write(f"seed {seed}\n")
    return seed


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", type=int, help="the seed of a storm that failed")
