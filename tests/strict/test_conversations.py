"""Conversations over real sockets, with stops, crashes and switches: no request is refused."""

from pathlib import Path

import pytest

from tests.strict.conversation import AT_ANY_ADDRESS, Conversation, written
from tests.strict.counter import Counter
from tests.support.model_server import ModelServer
from tests.support.seed import is_given, seed_of
from tests.support.server import TenutoServer

pytestmark = pytest.mark.anyio

COUNT, TURNS = (10, 50) if is_given() else (1, 15)
"""The long ones are for the night, which gives a seed."""


@pytest.mark.timeout(600)
@pytest.mark.guarantee("E5")
@pytest.mark.parametrize("number", range(COUNT))
async def test_no_request_of_a_conversation_is_refused(tmp_path: Path, number: int) -> None:
    seed = seed_of(f"conversation {number}")
    async with ModelServer() as model:
        counter = Counter(AT_ANY_ADDRESS, seed)
        model.listings = counter.listings()
        model.script(counter)
        written(tmp_path / "data", model.url)
        env = {"TENUTO_PERMISSIONS": "allow"}
        async with (
            TenutoServer(tmp_path, model_url=None, env=env) as server,
            server.client() as client,
        ):
            talk = Conversation(server, client, counter, seed=seed)
            await talk.talk(TURNS)
        assert not counter.refused, f"seed {seed}: {counter.refused[0]}"
        assert talk.kills and talk.switches and counter.asked >= TURNS // 2
