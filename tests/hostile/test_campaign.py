"""Whatever a provider sends, every run ends, every cancel settles, and what is stored is whole."""

from pathlib import Path

import pytest

from tests.hostile.campaign import all_shapes, hostile_server, meet_all

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]
LEAST = 300


def test_the_shapes_are_many_and_each_has_a_name_of_its_own() -> None:
    names = [shape.name for shape in all_shapes()]
    assert len(names) == len(set(names)) > LEAST


@pytest.mark.guarantee("E1")
async def test_whatever_a_provider_sends_every_run_ends_and_every_cancel_settles(
    tmp_path: Path,
) -> None:
    shapes = all_shapes()
    async with hostile_server(tmp_path, shapes) as (server, api):
        assert await meet_all(api, shapes) == {}
        # What a provider sends is no mistake of ours.
        assert "traceback" not in server.log().lower()
