"""Who may come in: the token, the cookie, the host and the origin."""

import asyncio
from pathlib import Path

import aiohttp
import pytest

from tests.api.contract.house import Api, House, open_house, refused
from tests.support.raw import RawAnswer

pytestmark = pytest.mark.anyio

FRIEND = "https://friend.example"
OPEN = ["/healthz", "/readyz", "/login", "/static/docs.css"]
CLOSED = [
    "/api/models",
    "/api/sessions",
    "/api/workspaces",
    "/api/runs",
    "/metrics",
    "/openapi.json",
    "/docs",
    "/api/nothing",
    "/api/workspaces/default/events",
]


@pytest.fixture(scope="module")
def settings() -> dict[str, str]:
    return {
        "TENUTO_ALLOWED_ORIGINS": FRIEND,
        "TENUTO_ALLOWED_HOSTS": "tenuto.example",
    }


async def visit(
    house: House,
    path: str,
    *,
    method: str = "GET",
    data: object = None,
    local: str = "127.0.0.1",
    **headers: str,
) -> tuple[RawAnswer, dict[str, str]]:
    """A request with these headers only, redirects not followed; and the cookies it sets."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    async with (
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(local_addr=(local, 0))) as http,
        http.request(
            method, house.server.url + path, headers=sent, data=data, allow_redirects=False
        ) as response,
    ):
        is_json = "json" in response.headers.get("Content-Type", "")
        body = await response.json(content_type=None) if is_json else None
        cookies = {name: morsel.value for name, morsel in response.cookies.items()}
        return RawAnswer(response.status, body, dict(response.headers)), cookies


@pytest.mark.parametrize("path", OPEN)
async def test_these_need_no_token(house: House, path: str) -> None:
    assert (await visit(house, path))[0].status == 200


@pytest.mark.parametrize("path", CLOSED)
@pytest.mark.parametrize(
    "shown",
    ["", "Bearer", "Bearer wrong", "Bearer test-token-of-no-value-and-more", "Basic dGVzdA=="],
)
async def test_everything_else_does(house: House, path: str, shown: str) -> None:
    headers = {"Authorization": shown} if shown else {}
    answer, _ = await visit(house, path, **headers)
    refused(answer, 401, "unauthorized")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


async def test_nothing_is_changed_without_a_token(house: House, session_id: str) -> None:
    for method, path in [
        ("POST", "/api/sessions"),
        ("DELETE", f"/api/sessions/{session_id}"),
        ("POST", f"/api/sessions/{session_id}/runs"),
    ]:
        refused((await visit(house, path, method=method))[0], 401, "unauthorized")
    assert (await house.api.get(f"/api/sessions/{session_id}"))["head"] == 0


async def test_logging_in_gives_a_cookie_that_opens_everything(house: House) -> None:
    token = house.server.token
    for answer, cookies in [
        await visit(house, f"/login?token={token}"),
        await visit(house, "/login", method="POST", data={"token": token}),
    ]:
        assert (answer.status, answer.headers["Location"]) == (303, "/")
        said = answer.headers["Set-Cookie"]
        assert "HttpOnly" in said and "samesite=lax" in said.lower()
        assert token not in said
        shown = "; ".join(f"{name}={value}" for name, value in cookies.items())
        assert (await visit(house, "/api/sessions", Cookie=shown))[0].status == 200


@pytest.mark.one_node("the cookie's name is that of the cluster")
async def test_logging_out_takes_the_cookie_back(house: House) -> None:
    answer, cookies = await visit(house, "/login", method="DELETE")
    ours = f"tenuto_{house.server.port}"
    assert (answer.status, cookies) == (204, {ours: ""})
    assert "max-age=0" in answer.headers["Set-Cookie"].lower()
    refused((await visit(house, "/api/sessions", Cookie=f"{ours}="))[0], 401, "unauthorized")


async def test_a_foreign_page_cannot_log_anyone_out(house: House) -> None:
    answer, cookies = await visit(house, "/login", method="DELETE", Origin="https://evil.example")
    refused(answer, 403, "forbidden")
    assert cookies == {}


async def test_a_wrong_token_gives_no_cookie(house: House) -> None:
    answer, cookies = await visit(house, "/login", method="POST", data={"token": "wrong"})
    assert (answer.status, cookies) == (401, {})
    shown = f"tenuto_{house.server.port}=wrong"
    refused((await visit(house, "/api/sessions", Cookie=shown))[0], 401, "unauthorized")


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("multipart/form-data", b"nonsense"),
        ("multipart/form-data; boundary=x", b"--x\r\nnonsense"),
        ("application/json", b'{"token": 1}'),
        ("application/x-www-form-urlencoded", b"token=" + b"%ff" * 9000),
    ],
)
async def test_a_login_that_cannot_be_read_is_no_ones_fault_but_the_clients(
    house: House, kind: str, body: bytes
) -> None:
    answer, cookies = await visit(house, "/login", method="POST", data=body, Content_Type=kind)
    assert answer.status < 500
    assert cookies == {}


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8383",
        "",
        "127.0.0.1.evil.example",
        "[",
        "10.0.0.1",
        "evil.example@localhost",
        "localhost:x",
    ],
)
async def test_a_foreign_host_is_refused(house: House, host: str) -> None:
    answer, _ = await visit(house, "/healthz", Host=host)
    assert answer.status in (400, 403)
    if answer.status == 403:
        refused(answer, 403, "forbidden")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:99", "tenuto.example"])
async def test_our_own_names_and_those_in_the_settings_are_known(house: House, host: str) -> None:
    assert (await visit(house, "/healthz", Host=host))[0].status == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:1", f"{FRIEND}.evil", "file://"]
)
async def test_a_foreign_origin_is_refused_even_with_the_token(house: House, origin: str) -> None:
    token = f"Bearer {house.server.token}"
    answer, _ = await visit(house, "/api/sessions", Origin=origin, Authorization=token)
    refused(answer, 403, "forbidden")
    assert "Access-Control-Allow-Origin" not in answer.headers


async def test_our_own_origin_may_call(house: House) -> None:
    token = f"Bearer {house.server.token}"
    answer, _ = await visit(house, "/api/models", Origin=house.server.url, Authorization=token)
    assert answer.status == 200
    assert "Access-Control-Allow-Origin" not in answer.headers


async def test_an_allowed_origin_may_call_and_read_the_answer(house: House) -> None:
    token = f"Bearer {house.server.token}"
    answer, _ = await visit(house, "/api/models", Origin=FRIEND, Authorization=token)
    assert answer.status == 200
    assert answer.headers["Access-Control-Allow-Origin"] == FRIEND
    asked, _ = await visit(
        house,
        "/api/sessions",
        method="OPTIONS",
        Origin=FRIEND,
        Access_Control_Request_Method="POST",
        Access_Control_Request_Headers="authorization,idempotency-key",
    )
    assert asked.status == 204
    assert "POST" in asked.headers["Access-Control-Allow-Methods"]
    assert "idempotency-key" in asked.headers["Access-Control-Allow-Headers"].lower()


async def test_an_origin_is_no_token(house: House) -> None:
    refused((await visit(house, "/api/sessions", Origin=FRIEND))[0], 401, "unauthorized")


async def test_an_answer_is_never_taken_for_something_else(api: Api) -> None:
    answer = await api.call("GET", "/api/models")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.one_node("each node counts for itself")
@pytest.mark.parametrize("way", ["link", "form", "bearer"])
async def test_whoever_guesses_must_wait_and_nobody_else(tmp_path: Path, way: str) -> None:
    async with open_house(tmp_path, {"TENUTO_LIMITS_WRONG_TOKENS": "5"}) as house:
        answers = [await _guess(house, way, "wrong", "127.0.0.2") for _ in range(7)]
        assert [answer.status for answer in answers] == [401] * 5 + [429] * 2
        refused(answers[-1], 429, "rate_limited")
        assert int(answers[-1].headers["Retry-After"]) > 0
        for other in ("link", "form", "bearer"):
            assert (await _guess(house, other, "wrong", "127.0.0.2")).status == 429
            assert (await _guess(house, other, "wrong", "127.0.0.3")).status == 401
            right = await _guess(house, other, house.server.token, "127.0.0.2")
            assert right.status in (200, 303)


async def _guess(house: House, way: str, token: str, address: str) -> RawAnswer:
    """Try this token from that address of this machine."""
    if way == "link":
        return (await visit(house, f"/login?token={token}", local=address))[0]
    if way == "form":
        form = {"token": token}
        return (await visit(house, "/login", method="POST", data=form, local=address))[0]
    shown = f"Bearer {token}"
    return (await visit(house, "/api/models", local=address, Authorization=shown))[0]


ODD_COOKIES = [
    'prefs={"theme":"dark"}',
    "a=b,c=d",
    'q="un;closed',
    "=",
    "no-value",
    "k\xe9y=v",
    "a b=c",
    "[x]=1",
    "session@id=5",
    "",
]


@pytest.mark.parametrize("odd", ODD_COOKIES)
async def test_cookies_of_others_do_not_hide_ours(house: House, odd: str) -> None:
    _, cookies = await visit(house, f"/login?token={house.server.token}")
    ((name, value),) = cookies.items()
    for shown in (f"{odd}; {name}={value}", f"{name}={value}; {odd}", f"{name}=x;{name}={value}"):
        assert (await visit(house, "/api/models", Cookie=shown))[0].status == 200, shown


@pytest.mark.one_node("the cookie's name is that of the cluster")
async def test_two_servers_on_one_host_have_two_cookies(house: House, tmp_path: Path) -> None:
    async with open_house(tmp_path, {}) as other:
        _, here = await visit(house, f"/login?token={house.server.token}")
        _, there = await visit(other, f"/login?token={other.server.token}")
        assert not here.keys() & there.keys()
        shown = "; ".join(f"{name}={value}" for name, value in (here | there).items())
        for one in (house, other):
            assert (await visit(one, "/api/models", Cookie=shown))[0].status == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content_Type": "text/plain"}, 403),
        ({"Content_Type": "application/x-www-form-urlencoded"}, 403),
        ({"Content_Type": "application/json", "Sec_Fetch_Site": "cross-site"}, 403),
        ({"Content_Type": "application/json", "Sec_Fetch_Site": "same-site"}, 403),
        ({"Content_Type": "application/json"}, 201),
        ({"Content_Type": "text/plain", "Sec_Fetch_Site": "same-origin"}, 201),
        ({"Content_Type": "text/plain", "Origin": "http://127.0.0.1"}, 201),
    ],
)
async def test_a_cookie_alone_changes_nothing_for_another_site(
    house: House, headers: dict[str, str], status: int
) -> None:
    _, cookies = await visit(house, f"/login?token={house.server.token}")
    shown = "; ".join(f"{name}={value}" for name, value in cookies.items())
    answer, _ = await visit(
        house, "/api/sessions", method="POST", data=b"{}", Cookie=shown, Host="127.0.0.1", **headers
    )
    assert answer.status == status, answer
    if status == 403:
        refused(answer, 403, "forbidden")


async def test_two_hosts_are_one_too_many(house: House) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", house.server.port)
    writer.write(
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n"
        b"Connection: close\r\n\r\n"
    )
    answer = await reader.read()
    writer.close()
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b'"code":"invalid_input"' in answer


async def test_no_one_on_the_way_keeps_an_answer(api: Api, house: House) -> None:
    for path in ("/api/models", "/api/sessions", "/api/nothing", "/healthz"):
        assert (await api.call("GET", path)).headers["Cache-Control"] == "no-store"
    refusal = (await visit(house, "/api/models"))[0]
    assert refusal.headers["Cache-Control"] == "no-store"
