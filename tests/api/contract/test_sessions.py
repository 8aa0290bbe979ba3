"""Sessions: made, listed, searched, changed and removed for good."""

import re
from typing import Any

import pytest

from tests.api.contract.house import Api, House, Json, refused
from tests.support.raw import StreamEnded

pytestmark = pytest.mark.anyio

INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


async def listed(api: Api, query: str = "") -> list[str]:
    found = await api.get(f"/api/sessions?limit=200&{query}")
    return [session["id"] for session in found["sessions"]]


async def change(api: Api, session_id: str, **changes: Any) -> Json:
    answer = await api.call("PATCH", f"/api/sessions/{session_id}", changes)
    assert answer.status == 200, answer
    changed: Json = answer.body
    return changed


async def test_a_new_session_is_empty_and_idle(api: Api) -> None:
    answer = await api.post("/api/sessions", {})
    session = answer.body
    assert answer.status == 201
    assert answer.headers["Location"] == f"/api/sessions/{session['id']}"
    assert session == session | {
        "workspace_id": "default",
        "title": "",
        "title_source": "provisional",
        "model": None,
        "system": None,
        "pinned": False,
        "archived": False,
        "draft": "",
        "head": 0,
        "state": "idle",
        "active_run": None,
        "queued": 0,
    }
    assert INSTANT.fullmatch(session["created_at"])
    assert await api.get(f"/api/sessions/{session['id']}") == session
    transcript = await api.get(f"/api/sessions/{session['id']}/messages")
    assert (transcript["messages"], transcript["head"]) == ([], 0)


async def test_a_session_is_made_as_it_is_asked_for(house: House) -> None:
    session_id = await house.session(
        title=" Mine ", model="openai/test-model", system="Speak like a pirate."
    )
    session = await house.api.get(f"/api/sessions/{session_id}")
    assert (session["title"], session["title_source"]) == ("Mine", "user")
    run, exchange = await house.held(session_id, "Hello")
    assert exchange.messages[0]["role"] == "system"
    assert "Speak like a pirate." in exchange.messages[0]["content"]
    assert run["model"] == "openai/test-model"


async def test_settings_are_changed_one_by_one_and_all_viewers_are_told(
    house: House, session_id: str
) -> None:
    async with house.api.sse(f"/api/sessions/{session_id}/events") as stream:
        for changes in (
            {"pinned": True},
            {"draft": "half a sent"},
            {"system": "Be brief."},
            {"system": None},
            {"model": "openai/test-model"},
            {"model": None},
            {"archived": True},
        ):
            session = await change(house.api, session_id, **changes)
            assert {name: session[name] for name in changes} == changes
            assert (await stream.next()).data["changes"] == changes
    assert (await house.api.get(f"/api/sessions/{session_id}"))["draft"] == "half a sent"


async def test_a_title_that_the_user_gives_is_the_users(house: House, session_id: str) -> None:
    await house.answered(session_id, "How do tides work?", "The moon.")
    session = await house.api.get(f"/api/sessions/{session_id}")
    assert (session["title"], session["title_source"]) == ("How do tides work?", "provisional")
    session = await change(house.api, session_id, title="Tides")
    assert (session["title"], session["title_source"]) == ("Tides", "user")


async def test_no_change_is_no_event(house: House, session_id: str) -> None:
    assert (await change(house.api, session_id))["head"] == 0


@pytest.mark.failure(60)
async def test_the_newest_activity_comes_first_and_settings_are_none(house: House) -> None:
    a, b, c = [await house.session(title=name) for name in "abc"]
    assert (await listed(house.api))[:3] == [c, b, a]
    await house.answered(a, "hi", "Hello.")
    assert (await listed(house.api))[:3] == [a, c, b]
    await change(house.api, b, pinned=True, title="B", draft="x")
    await house.api.get(f"/api/sessions/{b}/messages")
    assert (await listed(house.api))[:3] == [a, c, b]


async def test_pages_of_sessions_have_no_gap_and_no_repeat(house: House) -> None:
    made = [await house.session(title=f"page {n}") for n in range(7)]
    found: list[str] = []
    cursor = ""
    while True:
        page = await house.api.get(f"/api/sessions?limit=3{cursor}")
        found += [session["id"] for session in page["sessions"]]
        if len(found) == 3:
            await house.session(title="made meanwhile")
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    assert found[:7] == made[::-1]
    assert len(found) == len(set(found))


async def test_archived_sessions_are_listed_apart(house: House, session_id: str) -> None:
    await change(house.api, session_id, archived=True)
    assert session_id not in await listed(house.api)
    assert session_id in await listed(house.api, "archived=true")
    await change(house.api, session_id, archived=False)
    assert session_id in await listed(house.api)


async def test_titles_and_words_are_found(house: House) -> None:
    titled = await house.session(title="Zebra crossings")
    asked, answered = await house.session(), await house.session()
    await house.answered(asked, "Tell me of the quagga, please", "Gone.")
    await house.answered(answered, "And which one lives?", "The okapi does.")
    assert await listed(house.api, "q=zebra") == [titled]
    assert await listed(house.api, "q=quagga") == [asked]
    assert await listed(house.api, "q=okapi") == [answered]
    assert await listed(house.api, "q=okapi%20quagga") == []
    assert await listed(house.api, "q=unicorn") == []


async def test_words_that_were_taken_back_are_no_longer_found(
    house: House, session_id: str
) -> None:
    await house.answered(session_id, "The thylacine", "Gone too.")
    assert await listed(house.api, "q=thylacine") == [session_id]
    await house.api.post(f"/api/sessions/{session_id}/undo")
    await change(house.api, session_id, title="Other")
    assert await listed(house.api, "q=thylacine") == []


@pytest.mark.parametrize(
    "query", ['"', "'", "*", "a*", "NEAR(a b)", "a AND", "(", "-x", "col:x", "\0", "%", "_", "🙂"]
)
async def test_any_text_may_be_looked_for(house: House, query: str) -> None:
    import urllib.parse

    await house.api.get("/api/sessions?q=" + urllib.parse.quote(query))


async def test_an_unknown_workspace_has_no_sessions(api: Api) -> None:
    assert await listed(api, "workspace=nope") == []


async def test_a_deleted_session_is_gone_for_good(house: House, session_id: str) -> None:
    run, exchange = await house.held(session_id, "hi")
    waiting = await house.prompt(session_id, "more")
    await exchange.text("Hal")
    async with (
        house.api.sse(f"/api/sessions/{session_id}/events") as stream,
        house.api.sse(f"/api/runs/{run['id']}/events") as of_run,
    ):
        await stream.until("part.delta")
        answer = await house.api.call("DELETE", f"/api/sessions/{session_id}")
        assert (answer.status, answer.body) == (204, None)
        await exchange.closed()
        frames = await stream.to_the_end()
        await of_run.to_the_end()
    assert frames[-1].event == "session.deleted"
    ended = {f.data["run"]["id"]: f.data["run"] for f in frames if f.event == "run.finished"}
    assert {(r["status"], r["reason"]) for r in ended.values()} == {("cancelled", "deleted")}
    assert set(ended) == {run["id"], waiting["id"]}
    for path in (
        f"/api/sessions/{session_id}",
        f"/api/sessions/{session_id}/messages",
        f"/api/sessions/{session_id}/events",
        f"/api/runs/{run['id']}",
    ):
        refused(await house.api.call("GET", path), 404, "not_found")
    assert session_id not in await listed(house.api)
    again = await house.api.post(f"/api/sessions/{session_id}/runs", {"input": "hi"})
    refused(again, 404, "not_found")


async def test_a_stream_of_a_deleted_session_closes(house: House, session_id: str) -> None:
    async with house.api.sse(f"/api/sessions/{session_id}/events", after="now") as stream:
        assert (await stream.next()).event == "snapshot"
        await house.api.call("DELETE", f"/api/sessions/{session_id}")
        assert (await stream.next()).event == "session.deleted"
        with pytest.raises(StreamEnded):
            await stream.next()


async def test_a_session_says_what_it_is_doing_and_what_it_used(
    house: House, session_id: str
) -> None:
    run, exchange = await house.held(session_id, "hi")
    session = await house.api.get(f"/api/sessions/{session_id}")
    assert (session["state"], session["active_run"]) == ("running", run["id"])
    await exchange.text("Hello.")
    await exchange.usage(11, 7, 3)
    await exchange.finish()
    ended = await house.ended(run["id"])
    assert ended["usage"] == {
        "input_tokens": 11,
        "output_tokens": 7,
        "reasoning_tokens": 3,
        "cache_read_tokens": 0,
        "cache_write_tokens": 0,
        "exact": True,
        "cost_usd": None,
    }
    session = await house.api.get(f"/api/sessions/{session_id}")
    assert (session["state"], session["active_run"]) == ("idle", None)
    assert session["usage"] == ended["usage"]
