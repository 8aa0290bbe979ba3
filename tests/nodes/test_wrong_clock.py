"""Clocks of nodes do not matter: all go by the database's."""

from datetime import datetime
from pathlib import Path

import pytest

from tests.nodes.stage import Stage
from tests.support.log import assert_settled, read_log

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]
WRONG_SECONDS = 3600
CLOSE_SECONDS = 300


async def test_what_a_node_does_whose_clock_is_an_hour_ahead_has_the_time_of_all(
    stage: Stage,
) -> None:
    bea = stage.cluster.node("bea")
    await bea.kill()
    bea.program = "tests.support.skewed"
    bea.env |= {"TENUTO_TEST_SKEW": str(WRONG_SECONDS), "PYTHONPATH": str(ROOT)}
    await bea.start()
    right = await stage.ada.api.get(f"/api/sessions/{await stage.ada.session()}")
    session = await stage.bea.session()
    await stage.bea.answered(session, "what time is it?", "The same.")
    events = await read_log(stage.ada.api, session)
    told = [event["at"] for event in events]
    told.append((await stage.bea.api.get(f"/api/sessions/{session}"))["created_at"])
    assert not [at for at in told if seconds_between(right["created_at"], at) > CLOSE_SECONDS]
    # Nor does it take others for dead, or what was just deleted for old.
    nodes = (await stage.bea.api.get("/api/nodes"))["nodes"]
    assert [node["state"] for node in nodes if node["name"] == "ada"] == ["alive"]
    await assert_settled(stage.ada.api, session)


def seconds_between(one: str, other: str) -> float:
    return abs((datetime.fromisoformat(other) - datetime.fromisoformat(one)).total_seconds())
