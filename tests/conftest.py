"""What every test shares."""

import pytest

pytest_plugins = ["pytester", "tests.guarantees"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
