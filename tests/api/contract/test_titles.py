"""Titles: at once from the first words, then in the background, never over the user's own."""

import pytest

from tests.api.contract.house import House, Json
from tests.support.log import read_log
from tests.support.model_server import Exchange
from tests.support.watch import until

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def settings() -> dict[str, str]:
    return {"TENUTO_TITLES": "on"}


async def answered(house: House, session_id: str, prompt: str = "How do tides work?") -> Exchange:
    """A first exchange; the request for a title that follows it."""
    run, exchange = await house.held(session_id, prompt)
    assert (await session_of(house, session_id))["title"] == prompt
    await exchange.say("The moon pulls.")
    await house.ended(run["id"])
    return await house.request()


async def session_of(house: House, session_id: str) -> Json:
    found: Json = await house.api.get(f"/api/sessions/{session_id}")
    return found


@pytest.mark.failure(51)
async def test_a_title_comes_at_once_and_a_better_one_in_the_background(
    house: House, session_id: str
) -> None:
    request = await answered(house, session_id)
    session = await session_of(house, session_id)
    assert (session["title_source"], session["state"]) == ("provisional", "idle")
    async with house.api.sse(f"/api/sessions/{session_id}/events", after=session["head"]) as stream:
        await request.say('"How the tides work."')
        frame = await stream.next()
    assert frame.data["changes"] == {"title": "How the tides work", "title_source": "auto"}
    assert await house.texts(session_id) == ["How do tides work?", "The moon pulls."]
    runs = (await house.api.get(f"/api/sessions/{session_id}/runs"))["runs"]
    assert len(runs) == 1
    log = await read_log(house.api, session_id)
    assert "six words" not in str(log)


@pytest.mark.guarantee("H8")
@pytest.mark.failure(43)
async def test_a_rename_while_the_title_is_made_stays(house: House, session_id: str) -> None:
    request = await answered(house, session_id)
    await house.api.call("PATCH", f"/api/sessions/{session_id}", {"title": "Mine"})
    head = (await session_of(house, session_id))["head"]
    await request.say("How the tides work")
    # The next run's events show that the late title has come and gone.
    run, exchange = await house.held(session_id, "And on the moon?")
    await exchange.say("None.")
    await house.ended(run["id"])
    session = await session_of(house, session_id)
    assert (session["title"], session["title_source"]) == ("Mine", "user")
    log = await read_log(house.api, session_id)
    assert not [e for e in log[head:] if e["type"] == "session.updated"]


async def test_a_session_that_its_user_named_asks_for_no_title(house: House) -> None:
    session_id = await house.session(title="Mine")
    run = await house.answered(session_id, "hi", "Hello.")
    before = len(house.model.exchanges)
    await house.answered(session_id, "again", "Hello.")
    assert len(house.model.exchanges) == before + 1
    assert run["status"] == "completed"
    assert (await session_of(house, session_id))["title"] == "Mine"


async def test_a_title_that_cannot_be_made_is_no_ones_trouble(
    house: House, session_id: str
) -> None:
    request = await answered(house, session_id)
    await request.fail(400, "no titles today")
    head = (await session_of(house, session_id))["head"]
    async with house.api.sse(f"/api/sessions/{session_id}/events", after=head) as stream:
        second = await answered_again(house, session_id)
        await second.say("Tides at last")
        updated = await stream.until("session.updated")
    assert updated.data["changes"]["title"] == "Tides at last"


async def answered_again(house: House, session_id: str) -> Exchange:
    run, exchange = await house.held(session_id, "And now?")
    await exchange.say("Now.")
    await house.ended(run["id"])
    return await house.request()


async def test_a_title_asks_nothing_of_a_session_that_is_deleted_meanwhile(
    house: House, session_id: str
) -> None:
    request = await answered(house, session_id)
    await house.api.call("DELETE", f"/api/sessions/{session_id}")
    await request.say("Too late")
    other = await house.session()
    assert (await answered(house, other)).ended == "open"
    assert (await house.api.call("GET", f"/api/sessions/{session_id}")).status == 404


async def test_what_a_title_cost_is_in_the_books_under_its_kind(
    house: House, session_id: str
) -> None:
    request = await answered(house, session_id)
    await request.say("How the tides work")

    async def booked() -> bool:
        rows = (await house.api.get("/api/usage"))["days"]
        return any(row["kind"] == "title" and row["output_tokens"] > 0 for row in rows)

    await until(booked)
