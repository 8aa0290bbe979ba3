"""Who may come in: the token, the cookie, the host and the origin."""

import aiohttp
import pytest

from tests.api.contract.house import Api, House, refused
from tests.support.raw import Answer

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
    house: House, path: str, *, method: str = "GET", data: object = None, **headers: str
) -> tuple[Answer, dict[str, str]]:
    """A request with these headers only, redirects not followed; and the cookies it sets."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    async with (
        aiohttp.ClientSession() as http,
        http.request(
            method, house.server.url + path, headers=sent, data=data, allow_redirects=False
        ) as response,
    ):
        is_json = "json" in response.headers.get("Content-Type", "")
        body = await response.json(content_type=None) if is_json else None
        cookies = {name: morsel.value for name, morsel in response.cookies.items()}
        return Answer(response.status, body, dict(response.headers)), cookies


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


async def test_logging_out_takes_the_cookie_back(house: House) -> None:
    answer, cookies = await visit(house, "/login", method="DELETE")
    assert (answer.status, cookies) == (204, {"tenuto": ""})
    assert "max-age=0" in answer.headers["Set-Cookie"].lower()
    refused((await visit(house, "/api/sessions", Cookie="tenuto="))[0], 401, "unauthorized")


async def test_a_foreign_page_cannot_log_anyone_out(house: House) -> None:
    answer, cookies = await visit(house, "/login", method="DELETE", Origin="https://evil.example")
    refused(answer, 403, "forbidden")
    assert cookies == {}


async def test_a_wrong_token_gives_no_cookie(house: House) -> None:
    answer, cookies = await visit(house, "/login", method="POST", data={"token": "wrong"})
    assert (answer.status, cookies) == (401, {})
    refused((await visit(house, "/api/sessions", Cookie="tenuto=wrong"))[0], 401, "unauthorized")


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
    "host", ["evil.example", "evil.example:8383", "", "127.0.0.1.evil.example", "[", "10.0.0.1"]
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


async def test_whoever_guesses_must_wait(house: House) -> None:
    """The last test of this server's door: it stays shut for a minute."""
    for _ in range(40):
        answer, _ = await visit(house, "/login?token=wrong")
    refused(answer, 429, "rate_limited")
    assert int(answer.headers["Retry-After"]) > 0
