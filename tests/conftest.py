"""What every test shares."""

import pytest
from hypothesis import settings

from tests.support.seed import is_given

# An innocent change must not go red because of the day on which it is made.
settings.register_profile("tenuto", derandomize=not is_given())
settings.load_profile("tenuto")

pytest_plugins = [
    "pytester",
    "tests.guarantees",
    "tests.support.postgres",
    "tests.support.many_nodes",
]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
