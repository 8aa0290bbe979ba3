"""docs/api.md and the server's own description say the same of every call."""

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.docs.page import ROOT
from tests.support.server import TenutoServer

pytestmark = pytest.mark.anyio

CALL = re.compile(r"^\| `(?P<method>[A-Z]+) (?P<path>/\S+)` \| (?P<does>.*) \|$", re.MULTILINE)
QUERY = re.compile(r"`\?(?P<query>[^`]+)`")
STATUS = re.compile(r"→ (?P<status>\d{3})\b")
FIELDS = re.compile(r"`{(?P<fields>[^`]*)}`")
FIELD = re.compile(r"(?P<name>\w+)(?P<optional>\?)?(?:: .*)?")
CODES = re.compile(r"^\| (?P<statuses>\d{3}(?:, \d{3})*) \| (?P<codes>.*) \|$", re.MULTILINE)
OF_THE_PAGE = {"/login", "/docs", "/openapi.json", "/"}
"""For browsers; the text tells of them."""
LOSSES = ("sessions", "panes", "vote", "key", "folder")
"""What a DELETE may take along, or must not."""

Json = dict[str, Any]
Calls = dict[tuple[str, str], Json]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def document(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Json]:
    folder = tmp_path_factory.mktemp("server")
    async with TenutoServer(folder, model_url=None) as server:
        yield await server.raw.get("/openapi.json")


@pytest.fixture
def described(document: Json) -> Calls:
    return {
        (method.upper(), path): call
        for path, methods in document["paths"].items()
        if path not in OF_THE_PAGE
        for method, call in methods.items()
    }


@pytest.fixture
def told() -> dict[tuple[str, str], str]:
    text = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    return {(row["method"], row["path"]): row["does"] for row in CALL.finditer(text)}


async def test_the_page_names_exactly_the_calls_that_there_are(
    described: Calls, told: dict[tuple[str, str], str]
) -> None:
    assert told.keys() == described.keys()


async def test_the_page_says_the_status_of_what_is_made_or_removed(
    described: Calls, told: dict[tuple[str, str], str]
) -> None:
    for call, does in told.items():
        good = {status for status in described[call]["responses"] if status.startswith("2")}
        said = {row["status"] for row in STATUS.finditer(does)}
        assert said <= good, call
        assert said or good == {"200"} or "see below" in does, call


async def test_the_page_names_the_parameters(
    described: Calls, told: dict[tuple[str, str], str]
) -> None:
    for call, does in told.items():
        if "see below" in does:
            continue
        there = {p["name"] for p in described[call]["parameters"] if p["in"] == "query"}
        found = QUERY.search(does)
        said = re.findall(r"(\w+)=", found["query"]) if found else []
        assert set(said) == there - {"after"}, call


async def test_the_page_names_the_fields_that_are_taken(
    described: Calls, told: dict[tuple[str, str], str], document: Json
) -> None:
    for call, does in told.items():
        content = described[call].get("requestBody", {}).get("content", {})
        if "application/json" not in content or "see below" in does:
            continue
        schema = _schema(document, content["application/json"]["schema"])
        said = _fields(does.partition(" → ")[0])
        assert said.keys() == schema["properties"].keys(), call
        if call[0] != "PATCH":
            assert {name for name, must in said.items() if must} == set(schema["required"]), call


async def test_the_page_names_fields_that_are_given(
    described: Calls, told: dict[tuple[str, str], str], document: Json
) -> None:
    for call, does in told.items():
        before, arrow, after = does.partition(" → ")
        said = _fields(after if arrow else before if call[0] == "GET" else "")
        answers = described[call]["responses"]
        content = next(answers[status] for status in answers if status[0] == "2").get("content", {})
        if said and "schema" in content.get("application/json", {}):
            schema = _schema(document, content["application/json"]["schema"])
            assert said.keys() <= schema["properties"].keys(), call


async def test_the_page_says_what_goes_with_what_is_removed(
    described: Calls, told: dict[tuple[str, str], str]
) -> None:
    for call, does in told.items():
        if call[0] == "DELETE":
            lost = [word for word in LOSSES if word in described[call]["summary"]]
            assert not [word for word in lost if word not in does], call


async def test_the_page_names_every_error(described: Calls) -> None:
    text = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    told = {
        code: set(row["statuses"].split(", "))
        for row in CODES.finditer(text)
        for code in re.findall(r"`(\w+_\w+|unauthorized|forbidden|internal)`", row["codes"])
    }
    there: dict[str, set[str]] = {}
    for call in described.values():
        for status, answer in call["responses"].items():
            if status[0] in "45":
                for code in answer["description"].partition(":")[0].split(", "):
                    there.setdefault(code, set()).add(status)
    assert told.keys() == there.keys()
    assert not [code for code, statuses in there.items() if not statuses <= told[code]]


def _fields(text: str) -> dict[str, bool]:
    """The names in the first braces, and whether each must be given."""
    found = FIELDS.search(text)
    flat = re.sub(r"{[^}]*}", "", found["fields"]) if found else ""
    rows = [FIELD.fullmatch(part.strip()) for part in flat.split(",")]
    return {row["name"]: row["optional"] is None for row in rows if row}


def _schema(document: Json, schema: Json) -> Json:
    if "$ref" in schema:
        named: Json = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]]
        return named
    return schema
