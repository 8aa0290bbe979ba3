"""Comparisons: panes, the vote, keeping, removing, and the scoreboard."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.contract.house import Api, House, Json, open_house, refused
from tests.support.log import assert_settled
from tests.support.model_server import Exchange

pytestmark = pytest.mark.anyio

MODELS = ["openai/one", "openai/two", "openai/three"]


@pytest.fixture(scope="module")
async def shared_house(
    tmp_path_factory: pytest.TempPathFactory, settings: dict[str, str]
) -> AsyncIterator[House]:
    async with open_house(tmp_path_factory.mktemp("house"), settings) as house:
        house.model.models = ["one", "two", "three"]
        yield house


async def compare(api: Api, models: list[str] = MODELS, **fields: Any) -> Json:
    answer = await api.post("/api/comparisons", {"models": models, **fields})
    assert answer.status == 201, answer
    assert answer.headers["Location"] == f"/api/comparisons/{answer.body['id']}"
    found: Json = answer.body
    return found


async def vote(api: Api, comparison: Json, winner: Any) -> Json:
    answer = await api.post(f"/api/comparisons/{comparison['id']}/vote", {"winner": winner})
    assert answer.status == 200, answer
    found: Json = answer.body
    return found


async def keep(api: Api, comparison: Json, index: int) -> Json:
    answer = await api.post(f"/api/comparisons/{comparison['id']}/keep", {"index": index})
    assert answer.status == 200, answer
    found: Json = answer.body
    return found


async def listed(api: Api, query: str = "") -> list[str]:
    return [session["id"] for session in (await api.get(f"/api/sessions{query}"))["sessions"]]


def panes_of(comparison: Json) -> list[str]:
    return [pane["session_id"] for pane in comparison["panes"]]


async def test_a_comparison_has_a_labelled_session_for_each_model(house: House) -> None:
    made = await compare(house.api, blind=False)
    assert [pane["model"] for pane in made["panes"]] == MODELS
    assert [(p["index"], p["label"], p["state"]) for p in made["panes"]] == [
        (0, "A", "open"),
        (1, "B", "open"),
        (2, "C", "open"),
    ]
    assert (made["voted"], made["winner"], made["voted_at"]) == (False, None, None)
    assert (made["workspace_id"], made["mode"], made["title"]) == ("default", "chat", "")
    assert await house.api.get(f"/api/comparisons/{made['id']}") == made
    for pane in made["panes"]:
        session = await house.api.get(f"/api/sessions/{pane['session_id']}")
        assert session["model"] == pane["model"]
        assert session["comparison"] == {
            "id": made["id"],
            "index": pane["index"],
            "label": pane["label"],
            "mode": "chat",
            "blind": False,
            "voted": False,
        }


async def test_a_comparison_is_blind_unless_it_is_asked_otherwise(house: House) -> None:
    made = await compare(house.api)
    assert made["blind"] is True
    assert {pane["model"] for pane in made["panes"]} == {None}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"models": []},
        {"models": ["openai/one"]},
        {"models": ["openai/one"] * 9},
        {"models": "openai/one"},
        {"models": ["openai/one", 2]},
        {"models": ["openai/one", ""]},
        {"models": MODELS, "mode": "compact"},
        {"models": MODELS, "blind": "yes"},
        {"models": MODELS, "title": "no"},
    ],
)
async def test_a_comparison_that_makes_no_sense_is_refused(api: Api, body: Json) -> None:
    refused(await api.post("/api/comparisons", body), 422, "invalid_input")


async def test_a_comparison_of_what_is_not_there_is_refused_and_leaves_nothing(api: Api) -> None:
    before = await api.get("/api/comparisons")
    unknown = await api.post("/api/comparisons", {"models": ["openai/one", "nobody/knows"]})
    refused(unknown, 422, "model_not_found")
    nowhere = await api.post("/api/comparisons", {"models": MODELS, "workspace": "wsp_no"})
    refused(nowhere, 404, "not_found")
    assert await api.get("/api/comparisons") == before


async def test_the_same_key_makes_one_comparison(api: Api) -> None:
    key = {"Idempotency-Key": "a-comparison"}
    first = await api.call("POST", "/api/comparisons", {"models": MODELS}, headers=key)
    again = await api.call("POST", "/api/comparisons", {"models": MODELS}, headers=key)
    assert (again.status, again.body) == (first.status, first.body)
    other = await api.call("POST", "/api/comparisons", {"models": MODELS[:2]}, headers=key)
    refused(other, 409, "idempotency_mismatch")


async def test_a_pane_is_prompted_like_any_session_and_in_the_comparisons_mode(
    house: House,
) -> None:
    made = await compare(house.api, blind=False)
    session_id = panes_of(made)[1]
    run, exchange = await house.held(session_id, "Why is the sky blue?")
    assert (run["mode"], run["model"]) == ("chat", "openai/two")
    assert (exchange.body["model"], "tools" in exchange.body) == ("two", False)
    await exchange.say("It scatters.")
    await house.ended(run["id"])
    agent, exchange = await house.held(session_id, "Do it", mode="agent")
    assert (agent["mode"], "tools" in exchange.body) == ("agent", True)
    await exchange.say("Done.")
    await house.ended(agent["id"])
    await assert_settled(house.api, session_id)
    assert (await house.api.get(f"/api/comparisons/{made['id']}"))["title"] == (
        "Why is the sky blue?"
    )


async def test_panes_are_listed_nowhere_until_they_are_kept(house: House, api: Api) -> None:
    made = await compare(api)
    first, second, _ = panes_of(made)
    for session_id in (first, second):
        await house.answered(session_id, "an aardvark", "ants")
    assert not {*panes_of(made)} & {*await listed(api), *await listed(api, "?q=aardvark")}
    async with api.sse("/api/workspaces/default/events", after="now") as stream:
        snapshot = (await stream.next()).data
        assert not {*panes_of(made)} & {session["id"] for session in snapshot["sessions"]}
        await house.answered(first, "another", "one")
        await vote(api, made, 1)
        kept = await keep(api, made, 1)
        # The first that the workspace hears of any of it.
        told = await stream.next()
    assert (told.event, told.data["session"]) == ("session.created", kept)
    assert (kept["id"], kept["title"], kept["comparison"]) == (second, "an aardvark", None)
    assert kept["model"] == (await api.get(f"/api/comparisons/{made['id']}"))["panes"][1]["model"]
    assert second in await listed(api)
    assert await listed(api, "?q=aardvark") == [second]


async def test_a_kept_pane_is_a_session_of_its_own(house: House, api: Api) -> None:
    made = await compare(api)
    session_id = panes_of(made)[0]
    await house.answered(session_id, "hi", "Hello.")
    await vote(api, made, 0)
    fork = await api.post(f"/api/sessions/{session_id}/fork")
    assert (fork.status, fork.body["comparison"]) == (201, None)
    assert await keep(api, made, 0) == await keep(api, made, 0)
    changed = await api.call("PATCH", f"/api/sessions/{session_id}", {"model": "openai/three"})
    assert (changed.status, changed.body["model"]) == (200, "openai/three")
    run, exchange = await house.held(session_id, "again")
    assert (run["mode"], run["model"], exchange.body["model"]) == (
        "agent",
        "openai/three",
        "three",
    )
    await exchange.say("Hello.")
    await house.ended(run["id"])
    await assert_settled(api, session_id)


async def test_there_is_one_vote_and_its_sender_may_ask_again(api: Api) -> None:
    made = await compare(api)
    path, key = f"/api/comparisons/{made['id']}/vote", {"Idempotency-Key": "my-vote"}
    first = await api.call("POST", path, {"winner": "tie"}, headers=key)
    assert (first.status, first.body["winner"], first.body["voted"]) == (200, "tie", True)
    assert sorted(pane["model"] for pane in first.body["panes"]) == sorted(MODELS)
    again = await api.call("POST", path, {"winner": "tie"}, headers=key)
    assert (again.status, again.body) == (200, first.body)
    refused(await api.post(path, {"winner": "tie"}), 409, "already_answered")
    assert await api.get(f"/api/comparisons/{made['id']}") == first.body


@pytest.mark.parametrize("winner", [3, -1, "best", None, 0.5, True, [0]])
async def test_a_vote_that_makes_no_sense_is_refused_and_shows_nothing(
    api: Api, winner: Any
) -> None:
    made = await compare(api)
    path = f"/api/comparisons/{made['id']}"
    refused(await api.post(f"{path}/vote", {"winner": winner}), 422, "invalid_input")
    assert await api.get(path) == made


async def test_what_is_not_there_can_be_neither_read_nor_voted_on(api: Api) -> None:
    for answer in (
        await api.call("GET", "/api/comparisons/cmp_no"),
        await api.post("/api/comparisons/cmp_no/vote", {"winner": 0}),
        await api.post("/api/comparisons/cmp_no/keep", {"index": 0}),
        await api.call("DELETE", "/api/comparisons/cmp_no"),
    ):
        refused(answer, 404, "not_found")


async def test_comparisons_are_listed_newest_first(api: Api) -> None:
    made = [(await compare(api))["id"] for _ in range(3)]
    first = await api.get("/api/comparisons?limit=2")
    assert [one["id"] for one in first["comparisons"]] == [made[2], made[1]]
    rest = await api.get(f"/api/comparisons?limit=2&cursor={first['next']}")
    assert rest["comparisons"][0]["id"] == made[0]
    refused(await api.call("GET", "/api/comparisons?cursor=x"), 422, "invalid_input")


async def test_a_removed_comparison_takes_its_panes_but_not_those_that_were_kept(
    house: House, api: Api
) -> None:
    made = await compare(api)
    panes = panes_of(made)
    run, exchange = await house.held(panes[2], "hello")
    await exchange.text("So far")
    await vote(api, made, 0)
    await keep(api, made, 0)
    async with api.sse(f"/api/sessions/{panes[2]}/events") as stream:
        answer = await api.call("DELETE", f"/api/comparisons/{made['id']}")
        assert answer.status == 204
        assert (await stream.to_the_end())[-1].event == "session.deleted"
    await exchange.closed()
    for path in (
        f"/api/comparisons/{made['id']}",
        f"/api/sessions/{panes[1]}",
        f"/api/sessions/{panes[2]}",
        f"/api/runs/{run['id']}",
    ):
        assert (await api.call("GET", path)).status == 404
    assert panes[0] in await listed(api)
    assert (await api.call("DELETE", f"/api/comparisons/{made['id']}")).status == 404


async def test_a_pane_that_was_deleted_is_out_of_the_game(house: House, api: Api) -> None:
    made = await compare(api)
    assert (await api.call("DELETE", f"/api/sessions/{panes_of(made)[1]}")).status == 204
    found = await api.get(f"/api/comparisons/{made['id']}")
    assert [pane["state"] for pane in found["panes"]] == ["open", "deleted", "open"]
    path = f"/api/comparisons/{made['id']}"
    refused(await api.post(f"{path}/vote", {"winner": 1}), 422, "invalid_input")
    before = await games(api)
    await vote(api, made, 2)
    assert await games(api) == before + 2
    refused(await api.post(f"{path}/keep", {"index": 1}), 404, "not_found")


async def games(api: Api) -> int:
    return sum(one["games"] for one in (await api.get("/api/comparisons/scoreboard"))["models"])


@pytest.mark.one_node("a shared folder is named below --workspaces, and not by its path")
async def test_a_removed_workspace_takes_its_comparisons_along(
    house: House, api: Api, tmp_path: Path
) -> None:
    workspace = await api.post("/api/workspaces", {"name": "Lab", "path": str(tmp_path)})
    where = workspace.body["id"]
    made = await compare(api, workspace=where)
    kept = await compare(api, blind=False, workspace=where)
    await keep(api, kept, 0)
    _, exchange = await house.held(panes_of(made)[0], "hello")
    found = await api.get(f"/api/comparisons?workspace={where}")
    assert [one["id"] for one in found["comparisons"]] == [kept["id"], made["id"]]
    assert (await api.call("DELETE", f"/api/workspaces/{where}")).status == 204
    await exchange.closed()
    for session_id in (*panes_of(made), *panes_of(kept)):
        assert (await api.call("GET", f"/api/sessions/{session_id}")).status == 404
    assert (await api.call("GET", f"/api/comparisons/{made['id']}")).status == 404


async def test_the_scoreboard_adds_the_votes_up(tmp_path: Path) -> None:
    async with open_house(tmp_path, {}) as house:
        house.model.models = ["one", "two", "three"]
        api = house.api
        assert await api.get("/api/comparisons/scoreboard") == {"votes": 0, "models": []}
        open_one = await compare(api, MODELS[:2], blind=False)
        await vote(api, open_one, 0)
        assert await api.get("/api/comparisons/scoreboard") == {
            "votes": 1,
            "models": [
                {
                    "model": "openai/one",
                    "games": 1,
                    "wins": 1,
                    "ties": 0,
                    "losses": 0,
                    "rating": 1129.5,
                    "interval": [803.8, 1455.3],
                },
                {
                    "model": "openai/two",
                    "games": 1,
                    "wins": 0,
                    "ties": 0,
                    "losses": 1,
                    "rating": 870.5,
                    "interval": [544.7, 1196.2],
                },
            ],
        }
        await vote(api, await compare(api), "tie")
        await vote(api, await compare(api), "none")
        board = await api.get("/api/comparisons/scoreboard")
        assert board["votes"] == 3
        assert {one["model"]: (one["games"], one["ties"]) for one in board["models"]} == {
            "openai/one": (3, 2),
            "openai/two": (3, 2),
            "openai/three": (2, 2),
        }
        await api.call("DELETE", f"/api/comparisons/{open_one['id']}")
        after = await api.get("/api/comparisons/scoreboard")
        assert {one["rating"] for one in after["models"]} == {1000.0}


async def _attached(house: House, session_id: str) -> tuple[Any, Exchange]:
    """An open stream of an attached run, and the model's silence."""
    stream = house.api.sse(
        f"/api/sessions/{session_id}/runs",
        method="POST",
        body={"input": f"hello {session_id}", "on_disconnect": "cancel"},
    )
    await stream.__aenter__()
    exchange = await house.request()
    await exchange.text(f"partial of {session_id}")
    await stream.until("part.delta")
    return stream, exchange


@pytest.mark.failure(40, 39)
@pytest.mark.guarantee("O4", "O7")
async def test_leaving_stops_every_pane_at_once_and_keeps_what_each_had_said(
    house: House, api: Api
) -> None:
    made = await compare(api)
    panes = [(one, *await _attached(house, one)) for one in panes_of(made)]
    for _, stream, _ in panes:
        await stream.close()
    await asyncio.gather(*(exchange.closed() for _, _, exchange in panes))
    for session_id, _, _ in panes:
        (run,) = (await api.get(f"/api/sessions/{session_id}/runs"))["runs"]
        ended = await house.ended(run["id"])
        assert (ended["status"], ended["reason"]) == ("cancelled", "disconnect")
        assert (await house.texts(session_id))[-1] == f"partial of {session_id}"
        await assert_settled(api, session_id)


@pytest.mark.failure(40)
async def test_a_stop_of_one_pane_is_of_that_pane_and_stopping_all_stops_all(
    house: House, api: Api
) -> None:
    made = await compare(api)
    panes = [(one, *await _attached(house, one)) for one in panes_of(made)]
    first, stream, exchange = panes[0]
    stopped = await api.post(f"/api/sessions/{first}/cancel")
    assert (stopped.body["settled"], exchange.ended) == (True, "closed by client")
    assert (await stream.to_the_end())[-1].event == "run.finished"
    assert [e.ended for _, _, e in panes[1:]] == ["open", "open"]
    answers = await asyncio.gather(
        *(api.post(f"/api/sessions/{one}/cancel") for one, _, _ in panes)
    )
    assert [answer.body["settled"] for answer in answers] == [True, True, True]
    for session_id, stream, exchange in panes:
        assert exchange.ended == "closed by client"
        assert (await house.texts(session_id))[-1] == f"partial of {session_id}"
        await stream.close()
        await assert_settled(api, session_id)
