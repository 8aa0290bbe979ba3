"""PostgreSQL restarts, is away, or its answers are lost: nothing is lost, nothing is done twice."""

import signal
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import anyio
import anyio.to_thread
import pytest

from tests.api.contract.house import refused
from tests.nodes.stage import Stage, texts_shown
from tests.support.cluster import TenutoCluster
from tests.support.log import assert_settled
from tests.support.postgres import Server, database_url, fresh_database
from tests.support.proxy import Proxy

pytestmark = [pytest.mark.anyio, pytest.mark.guarantee("E11")]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT, signal.SIGKILL])
async def test_a_restart_costs_no_run_and_streams_stay_open(
    crashing_postgres: Server, mortal_stage: Stage, how: signal.Signals
) -> None:
    stage = mortal_stage
    session, idle = await stage.ada.session(), await stage.ada.session()
    run, exchange = await stage.ada.held(session, "hello")
    await exchange.text("before, ")
    path = f"/api/runs/{run['id']}/events"
    async with stage.ada.api.sse(path) as here, stage.bea.api.sse(path) as there:
        await texts_shown(stage.bea, session, "before, ")
        await anyio.to_thread.run_sync(crashing_postgres.stop, how)
        await exchange.text("meanwhile, ")
        for house in (stage.ada, stage.bea):
            answer = await house.api.post(f"/api/sessions/{idle}/runs", {"input": "now?"})
            refused(answer, 503, "storage_unavailable")
            assert int(answer.headers["Retry-After"]) > 0
        await anyio.to_thread.run_sync(crashing_postgres.start)
        await exchange.text("after")
        await exchange.finish()
        assert await here.to_the_end() == await there.to_the_end()
    assert (await stage.bea.run(run["id"]))["status"] == "completed"
    assert await stage.bea.texts(session) == ["hello", "before, meanwhile, after"]
    await assert_settled(stage.bea.api, session)
    run, exchange = await stage.bea.held(idle, "and now?")
    await exchange.say("Yes.")
    assert (await stage.ada.ended(run["id"]))["status"] == "completed"


@pytest.fixture
async def way(postgres_url: str) -> AsyncIterator[Proxy]:
    """The way on which ada speaks to PostgreSQL."""
    port = int(postgres_url.rsplit(":", 1)[1].split("/")[0])
    async with Proxy([port], Random(1)) as way:
        yield way


@pytest.fixture
async def spoilt(postgres_url: str, way: Proxy, tmp_path: Path) -> AsyncIterator[Stage]:
    url = await fresh_database(postgres_url, "spoilt")
    through = database_url(f"postgresql://postgres@127.0.0.1:{way.port}/x", "spoilt")
    async with Stage.model_of_both() as model:
        cluster = TenutoCluster(tmp_path, database=url, ways={"ada": through}, model_url=model.url)
        async with cluster:
            yield Stage(cluster, model)


async def test_a_prompt_whose_commit_was_not_answered_is_there_once(
    spoilt: Stage, way: Proxy
) -> None:
    session = await spoilt.ada.session()
    path, key = f"/api/sessions/{session}/runs", {"Idempotency-Key": "once"}
    way.mute = True

    async def heal() -> None:
        await anyio.sleep(1)
        way.cut(1.0)
        way.mute = False

    async with anyio.create_task_group() as group:
        group.start_soon(heal)
        first = await spoilt.ada.api.call("POST", path, {"input": "hi"}, headers=key)
    again = await spoilt.bea.api.call("POST", path, {"input": "hi"}, headers=key)
    assert again.status == 202
    assert first.status in (202, 503)
    if first.status == 202:
        assert first.body["id"] == again.body["id"]
    await (await spoilt.ada.request()).say("Once.")
    assert (await spoilt.bea.ended(again.body["id"]))["status"] == "completed"
    assert await spoilt.bea.texts(session) == ["hi", "Once."]
    assert len((await spoilt.bea.api.get(path))["runs"]) == 1
    await assert_settled(spoilt.bea.api, session)


async def test_a_node_whose_way_is_cut_in_mid_stream_loses_nothing(
    spoilt: Stage, way: Proxy
) -> None:
    session = await spoilt.ada.session()
    run, exchange = await spoilt.ada.held(session, "hello")
    said = ""
    for n in range(5):
        way.mute = n % 2 == 1
        said += f"piece {n}. "
        await exchange.text(f"piece {n}. ")
        await anyio.sleep(0.2)
        way.cut(1.0)
        way.mute = False
    await exchange.finish()
    assert (await spoilt.bea.ended(run["id"]))["status"] == "completed"
    assert await spoilt.bea.texts(session) == ["hello", said]
    await assert_settled(spoilt.bea.api, session)


async def test_an_attached_run_that_is_left_while_it_is_away_is_cancelled_when_it_is_back(
    crashing_postgres: Server, mortal_stage: Stage
) -> None:
    stage = mortal_stage
    session = await stage.ada.session()
    path, body = f"/api/sessions/{session}/runs", {"input": "hi", "on_disconnect": "cancel"}
    async with stage.ada.api.sse(path, method="POST", body=body) as stream:
        exchange = await stage.ada.request()
        await exchange.text("so far")
        await stream.until("part.delta")
        await anyio.to_thread.run_sync(crashing_postgres.stop)
    await anyio.to_thread.run_sync(crashing_postgres.start)
    await exchange.closed()
    (run,) = (await stage.bea.api.get(path))["runs"]
    ended = await stage.bea.ended(run["id"])
    assert (ended["status"], ended["reason"]) == ("cancelled", "disconnect")
    await assert_settled(stage.bea.api, session)


async def test_a_stream_that_must_read_while_it_is_away_goes_on_when_it_is_back(
    crashing_postgres: Server, mortal_stage: Stage
) -> None:
    """What another node says is read from the store, and so is what a reader comes back for."""
    stage = mortal_stage
    session = await stage.ada.session()
    await stage.ada.answered(session, "one", "1")
    path = f"/api/sessions/{session}/events"
    async with stage.bea.api.sse(path) as there:
        await there.next()
        run, exchange = await stage.ada.held(session, "two")
        await anyio.to_thread.run_sync(crashing_postgres.stop)
        await exchange.text("2")
        await exchange.finish()
        await anyio.sleep(1.5)
        await anyio.to_thread.run_sync(crashing_postgres.start)
        await there.until("run.finished", run_id=run["id"])
    await assert_settled(stage.bea.api, session)
