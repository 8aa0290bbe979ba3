"""Who asks is known of every request, and nobody reads or does more than they may see."""

from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from starlette.requests import Request

from tenuto.api import gate, routes
from tenuto.api.call import Call
from tenuto.api.endpoint import Access, Endpoint
from tenuto.api.services import Services
from tenuto.core.approval import Decision
from tenuto.core.comparison import Comparison, Pane
from tenuto.core.error import Unauthorized
from tenuto.core.file import FileInfo
from tenuto.core.output import OutputPiece
from tenuto.core.principal import OWNER, Principal
from tenuto.core.run import InputFile, InputText, Mode
from tenuto.core.session import DEFAULT_WORKSPACE
from tenuto.core.value import ComparisonId, FileId, PrincipalId, SessionId, StreamId
from tenuto.engine import stops
from tests.api.indoors import Indoors
from tests.conformance.driven import START, DrivenSession, make_workspace

pytestmark = pytest.mark.anyio

ANN = Principal(id=PrincipalId("ann"))
HIDDEN, OTHER = SessionId("ses_hidden"), SessionId("ses_other")
FILE = FileInfo(id=FileId("fil_a"), name="a", media_type="t/x", size=1, created_at=START)
IDS = {
    "sessions": "ses_hidden",
    "runs": "run_hidden001",
    "approvals": "apr_one",
    "comparisons": "cmp_one",
    "files": "fil_a",
}
BODIES: dict[str, Any] = {
    "POST /api/sessions": {},
    "POST /api/sessions/{id}/runs": {"input": "hello"},
    "POST /api/sessions/{id}/edit": {"message_id": "msg_hidden001_u", "input": "hello"},
    "POST /api/approvals/{id}": {"decision": "deny"},
    "POST /api/comparisons": {"models": ["m/a", "m/b"]},
    "POST /api/comparisons/{id}/vote": {"winner": 0},
    "POST /api/comparisons/{id}/keep": {"index": 0},
    "POST /api/comparisons/{id}/runs": {"input": "hello"},
    "POST /api/workspaces": {"name": "w", "path": "/"},
    "PATCH /api/sessions/{id}": {"title": "mine"},
    "PATCH /api/runs/{id}": {"position": 0},
    "PATCH /api/workspaces/{id}": {"name": "mine"},
}
READS_NOTHING = ("models", "providers", "settings", "health", "about", "mcp")
"""Resources of the server itself: what they say is nobody's."""


def resource(endpoint: Endpoint) -> str:
    return endpoint.path.split("/")[2]


def name(endpoint: Endpoint) -> str:
    return f"{endpoint.method} {endpoint.path}"


BY_ID = [one for one in routes.ALL if "{id}" in one.path and resource(one) in IDS]
OF_SOMEBODY = [
    one
    for one in routes.ALL
    if one.tag not in READS_NOTHING
    # An upload reads nothing; a stream of many logs says of each whether it is there.
    and name(one) not in ("POST /api/files", "GET /api/events")
]


@pytest.fixture
async def indoors(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Indoors]:
    """With a pane that runs, asks, and was sent a file; and with another beside it."""
    monkeypatch.setattr(stops, "SETTLE_SECONDS", 0.01)
    indoors = Indoors()
    await indoors.rest()
    store = indoors.store
    await make_workspace(store)
    await store.put_file(FILE, b"x")
    comparison = Comparison(
        id=ComparisonId("cmp_one"),
        workspace_id=DEFAULT_WORKSPACE,
        mode=Mode.CHAT,
        blind=False,
        created_at=START,
        panes=(Pane(session_id=HIDDEN, model="m/a"), Pane(session_id=OTHER, model="m/b")),
    )
    await store.create_comparison(comparison)
    driven = DrivenSession(store, HIDDEN)
    await driven.accept([InputText(text="look"), InputFile(file_id=FILE.id)])  # type: ignore[arg-type]
    await driven.start()
    await driven.answer(await driven.ask(await driven.call_tool()), Decision.ALLOW_SESSION)
    await store.keep_output(HIDDEN, "call_prt_tool", OutputPiece(at=0, text="much"))
    yield indoors


async def ask(indoors: Indoors, endpoint: Endpoint) -> int:
    path = endpoint.path.replace("{tool}", "shell").replace("{call_id}", "call_prt_tool")
    path = path.replace("{id}", IDS.get(resource(endpoint), DEFAULT_WORKSPACE))
    return (await indoors.ask(endpoint.method, path, BODIES.get(name(endpoint))))[0]


@pytest.mark.parametrize("endpoint", BY_ID, ids=name)
async def test_what_is_of_a_session_that_one_may_not_see_is_not_there(
    indoors: Indoors, endpoint: Endpoint
) -> None:
    indoors.store.hidden = HIDDEN
    head = (await indoors.store.session(HIDDEN)).head
    assert await ask(indoors, endpoint) == 404
    assert (await indoors.store.session(HIDDEN)).head == head
    assert not (await indoors.store.control(HIDDEN)).cancels.reasons
    indoors.store.hidden = None
    assert await ask(indoors, endpoint) != 404


@pytest.mark.parametrize("endpoint", OF_SOMEBODY, ids=name)
async def test_no_call_reads_around_what_one_may_see(indoors: Indoors, endpoint: Endpoint) -> None:
    indoors.store.blind = True
    if name(endpoint) == "DELETE /api/workspaces/{id}":
        await make_workspace(indoors.store, "wsp_one")
        assert (await indoors.ask("DELETE", "/api/workspaces/wsp_one"))[0] == 404
    else:
        assert await ask(indoors, endpoint) == 404


async def test_a_file_that_one_may_not_see_cannot_be_sent_along(indoors: Indoors) -> None:
    indoors.store.hidden = HIDDEN
    prompt = {"input": [{"type": "file", "file_id": FILE.id}]}
    there = f"/api/sessions/{OTHER}/runs"
    status, said = await indoors.ask("POST", there, prompt)
    assert (status, said["detail"]) == (422, "there is no file fil_a")
    indoors.store.hidden = None
    assert (await indoors.ask("POST", there, prompt))[0] == 202


async def test_in_a_stream_of_many_logs_a_hidden_one_is_gone(indoors: Indoors) -> None:
    indoors.store.hidden = HIDDEN
    _, said = await indoors.ask("GET", f"/api/events?session={HIDDEN}")
    assert said == b'log: ses_hidden\nevent: gone\ndata: {"log":"ses_hidden"}\n\n'


async def test_what_is_made_is_of_whoever_made_it(
    indoors: Indoors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "OWNER", ANN)
    form = (
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhi\r\n'
        b"--b--\r\n"
    )
    _, session = await indoors.ask("POST", "/api/sessions")
    made = [
        session,
        (await indoors.ask("POST", f"/api/sessions/{OTHER}/fork"))[1],
        (await indoors.ask("POST", f"/api/sessions/{session['id']}/runs", {"input": "hi"}))[1],
        (await indoors.ask("POST", "/api/comparisons", {"models": ["m/a", "m/b"]}))[1],
        (await indoors.ask("POST", "/api/workspaces", {"name": "w", "path": "/"}))[1],
        (await indoors.ask("POST", "/api/files", form, kind="multipart/form-data; boundary=b"))[1],
    ]
    assert [one.get("by") for one in made] == ["ann"] * 6


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/sessions/ses_other/runs", {"input": "hi"}),
        ("POST", "/api/sessions/ses_other/retry", {}),
        ("POST", "/api/sessions/ses_other/undo", {}),
        ("POST", "/api/sessions/ses_other/edit", {"message_id": "msg_other001_u", "input": "x"}),
        ("POST", "/api/runs/run_other001/continue", {}),
        ("PATCH", "/api/sessions/ses_other", {"title": "x"}),
        ("DELETE", "/api/sessions/ses_other", {}),
        ("DELETE", "/api/sessions/ses_other/grants/shell", {}),
        ("POST", "/api/comparisons/cmp_one/vote", {"winner": 0}),
        ("POST", "/api/comparisons/cmp_one/keep", {"index": 1}),
        ("POST", "/api/comparisons/cmp_one/runs", {"input": "hi"}),
        ("DELETE", "/api/comparisons/cmp_one", {}),
    ],
)
async def test_what_is_caused_in_a_session_is_by_whoever_caused_it(
    indoors: Indoors, monkeypatch: pytest.MonkeyPatch, method: str, path: str, body: Any
) -> None:
    driven = DrivenSession(indoors.store, OTHER)
    await driven.accept("hello")
    await driven.start()
    await driven.answer(
        await driven.ask(await driven.call_tool(), "apr_other"), Decision.ALLOW_SESSION
    )
    await driven.settle()
    head = (await indoors.store.session(OTHER)).head
    monkeypatch.setattr(gate, "OWNER", ANN)
    status, _ = await indoors.ask(method, path, body)
    assert status < 300
    page = await indoors.store.read(StreamId(OTHER), after=head, limit=100)
    assert {stored.event().by for stored in page.events} == {"ann"}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/sessions/ses_other/cancel", {}),
        ("POST", "/api/runs/run_other002/cancel", {}),
        ("DELETE", "/api/runs/run_other002", {}),
        ("DELETE", "/api/sessions/ses_other", {}),
        ("PATCH", "/api/runs/run_other002", {"input": "x", "position": 0}),
        ("POST", "/api/approvals/apr_other", {"decision": "allow_session"}),
    ],
)
async def test_what_is_caused_in_a_session_at_work_is_by_whoever_caused_it(
    indoors: Indoors, monkeypatch: pytest.MonkeyPatch, method: str, path: str, body: Any
) -> None:
    driven = DrivenSession(indoors.store, OTHER)
    await driven.accept("hello")
    await driven.start()
    await driven.ask(await driven.call_tool(), "apr_other")
    await driven.accept("waits")
    head = (await indoors.store.session(OTHER)).head
    monkeypatch.setattr(gate, "OWNER", ANN)
    status, _ = await indoors.ask(method, path, body)
    assert status < 300
    page = await indoors.store.read(StreamId(OTHER), after=head, limit=100)
    assert {stored.event().by for stored in page.events} == {"ann"}


async def test_the_same_key_of_two_principals_makes_two_runs(
    indoors: Indoors, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = []
    for who in (OWNER, ANN, ANN):
        monkeypatch.setattr(gate, "OWNER", who)
        there = f"/api/sessions/{OTHER}/runs"
        runs.append((await indoors.ask("POST", there, {"input": "hi"}, key="k"))[1]["id"])
    assert runs[0] != runs[1] == runs[2]


def test_a_call_without_a_token_is_nobodys() -> None:
    request = Request({"type": "http", "state": {"who": None}})
    with pytest.raises(Unauthorized):
        assert Call(request, cast("Services", None)).who


def test_only_health_is_for_nobody() -> None:
    open_to_all = [name(one) for one in routes.ALL if one.access is Access.ANYONE]
    assert open_to_all == ["GET /healthz", "GET /readyz"]
