"""docs/api.md and the server's own description name the same calls."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from tests.docs.page import ROOT
from tests.support.server import TenutoServer

pytestmark = pytest.mark.anyio

CALL = re.compile(r"^\| `(?P<method>[A-Z]+) (?P<path>/\S+)` \|", re.MULTILINE)
OF_THE_PAGE = {"/login", "/docs", "/openapi.json", "/"}
"""For browsers; the text tells of them."""


@pytest.fixture
async def described(tmp_path: Path) -> AsyncIterator[set[tuple[str, str]]]:
    async with TenutoServer(tmp_path, model_url=None) as server, aiohttp.ClientSession() as http:
        headers = {"Authorization": f"Bearer {server.token}"}
        async with http.get(f"{server.url}/openapi.json", headers=headers) as response:
            paths = (await response.json())["paths"]
    yield {
        (method.upper(), path)
        for path, methods in paths.items()
        if path not in OF_THE_PAGE
        for method in methods
    }


async def test_the_page_names_exactly_the_calls_that_there_are(
    described: set[tuple[str, str]],
) -> None:
    text = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    assert {(match["method"], match["path"]) for match in CALL.finditer(text)} == described
