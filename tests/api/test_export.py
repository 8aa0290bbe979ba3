"""A conversation as a file."""

import json
from urllib.parse import unquote

import aiohttp
import pytest

from tests.api.contract.house import House, refused
from tests.support.model_server import ModelServer
from tests.support.server import TenutoServer

pytestmark = pytest.mark.anyio


@pytest.fixture
def house(model: ModelServer, server: TenutoServer) -> House:
    return House(model, server)  # type: ignore[arg-type]


async def download(house: House, session: str, form: str) -> tuple[str, str, str]:
    """The name in plain letters, the full name, and the text."""
    headers = {"Authorization": f"Bearer {house.server.token}"}
    url = f"{house.server.url}/api/sessions/{session}/export?format={form}"
    async with aiohttp.ClientSession() as http, http.get(url, headers=headers) as response:
        assert response.status == 200
        said = response.headers["Content-Disposition"]
        simple, _, full = said.removeprefix('attachment; filename="').partition(
            "\"; filename*=UTF-8''"
        )
        return simple, unquote(full), await response.text()


async def test_markdown_says_who_said_what_and_how_it_ended(house: House) -> None:
    session = await house.session()
    await house.api.call("PATCH", f"/api/sessions/{session}", {"title": "A talk"})
    run, exchange = await house.held(session, "What is there?", mode="agent")
    await exchange.reasoning("Let me look.")
    await exchange.tool_call(0, "call_1", "list_files")
    await exchange.tool_input(0, '{"path": "."}')
    await exchange.finish("tool_calls")
    exchange = await house.request()
    await exchange.usage(1200, 30)
    await exchange.text("Nothing.\n```\nand an open block")
    await exchange.finish()
    await house.ended(run["id"])
    simple, full, text = await download(house, session, "markdown")
    assert (simple, full) == ("A talk.md", "A talk.md")
    assert text.startswith("# A talk\n\n## You\n\nWhat is there?\n\n## Assistant\n\n<details>")
    assert "<summary>Reasoning</summary>\n\nLet me look.\n\n</details>" in text
    assert '**Tool list\\_files** (done)\n\n```json\n{\n  "path": "."\n}\n```' in text
    assert "and an open block\n```\n\n_openai/test-model · " in text
    assert text.endswith("_\n")


async def test_json_has_all_of_it(house: House) -> None:
    session = await house.session()
    for n in range(3):
        await house.answered(session, f"question {n}", f"answer {n}")
    _, full, text = await download(house, session, "json")
    whole = json.loads(text)
    assert full.endswith(".json")
    assert whole.keys() == {"exported_at", "session", "messages", "runs", "approvals", "questions"}
    assert whole["session"] == await house.api.get(f"/api/sessions/{session}")
    assert whole["messages"] == await house.messages(session)
    listed = (await house.api.get(f"/api/sessions/{session}/runs"))["runs"]
    assert whole["runs"] == listed[::-1]
    assert [run["input"] for run in whole["runs"]] == [f"question {n}" for n in range(3)]


@pytest.mark.parametrize(
    ("title", "simple", "full"),
    [
        ("Plain", "Plain", "Plain"),
        ("Grüße & Küsse", "Grue & Kusse", "Grüße & Küsse"),
        ('a"b\\c/d:e', "a b c d e", "a b c d e"),
        ("日本語", "conversation", "日本語"),
        ("../../etc/passwd", "etc passwd", "etc passwd"),
        ("x\r\nSet-Cookie: a=b", "x Set-Cookie a=b", "x Set-Cookie a=b"),
        ("...", "conversation", "conversation"),
        ("", "conversation", "conversation"),
        ("👋" * 300, "conversation", "👋" * 80),
    ],
)
async def test_any_title_gives_a_name_that_is_safe(
    house: House, title: str, simple: str, full: str
) -> None:
    session = await house.session()
    await house.api.call("PATCH", f"/api/sessions/{session}", {"title": title})
    got = await download(house, session, "markdown")
    assert (got[0].replace("Gruße", "Grue"), got[1]) == (f"{simple}.md", f"{full}.md")


async def test_a_wrong_form_and_a_wrong_session_are_told(house: House) -> None:
    session = await house.session()
    wrong = await house.api.call("GET", f"/api/sessions/{session}/export?format=pdf")
    refused(wrong, 422, "invalid_input")
    refused(await house.api.call("GET", "/api/sessions/ses_none/export"), 404, "not_found")
