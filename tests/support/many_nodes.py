"""A pytest plugin: with `TENUTO_TEST_NODES=2` the black-box tests meet two nodes on PostgreSQL."""

import os
from collections.abc import Iterator

import pytest

from tests.support.cluster import DATABASES, nodes_wanted


def pytest_runtest_setup(item: pytest.Item) -> None:
    mark = item.get_closest_marker("one_node")
    if mark is not None and nodes_wanted():
        pytest.skip(f"one node only: {mark.args[0]}")


@pytest.fixture(scope="session", autouse=True)
def databases_of_the_cluster(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where clusters make their databases: one PostgreSQL for all tests of this worker."""
    if not nodes_wanted():
        yield
        return
    before = os.environ.get(DATABASES)
    os.environ[DATABASES] = request.getfixturevalue("postgres_url")
    yield
    if before is None:
        del os.environ[DATABASES]
