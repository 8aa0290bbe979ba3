"""One provider's odd list of models harms only that provider."""

import asyncio
import gzip
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.hostile.campaign import LIMITS, CampaignApi, ended
from tests.hostile.provider import HostileProvider
from tests.hostile.shape import JSON, head, nested
from tests.support.server import TenutoServer

pytestmark = pytest.mark.anyio

ENTRIES: dict[str, Any] = {
    "no-entries": [],
    "not-a-list": 5,
    "nothing": None,
    "numbers": [1, None, True, [], "m"],
    "no-id": [{}],
    "odd-ids": [{"id": 5}, {"id": None}, {"id": ["m"]}, {"id": ""}, {"id": "a\nb"}, {"id": "\0"}],
    "half-a-character": [{"id": "m\ud83d"}],
    "a-long-id": [{"id": "m" * 1_000_000}],
    "many": [{"id": f"m{n}"} for n in range(50_000)],
    "one-many-times": [{"id": "m"}] * 5000,
    "modalities": [{"id": "m", "architecture": {"input_modalities": 5}}],
    "more-modalities": [{"id": "m", "architecture": {"input_modalities": [[], {}, 5]}}],
    "architecture": [{"id": "m", "architecture": [5]}],
    "capabilities": [{"id": "m", "capabilities": 5}],
    "odd-capabilities": [{"id": "m", "capabilities": [[], {"a": 1}, None]}],
    "parameters": [{"id": "m", "supported_parameters": {"a": 1}}],
    "odd-parameters": [{"id": "m", "supported_parameters": [[[]], {}]}],
    "a-type": [{"id": "m", "type": [[5]]}],
    "windows": [{"id": "m", "context_length": 10**300, "max_model_len": -5}],
    "more-windows": [{"id": "m", "context_length": True, "meta": {"n_ctx": [5]}}],
    "a-tiny-window": [{"id": "m", "context_length": 1}],
    "meta": [{"id": "m", "meta": 5}],
}
BODIES = {
    "no-json": b"{",
    "nothing-at-all": b"",
    "no-text": b"\xff\xfe",
    "nested": nested(100_000),
    "nested-fields": b'{"data":[{"id":"m","architecture":' + nested(900) + b"}]}",
    "nested-capabilities": b'{"data":[{"id":"m","capabilities":[' + nested(900) + b"]}]}",
    "a-word": b'"m"',
    "too-much": b'{"data":[' + b'{"id":"m"},' * 600_000 + b"0]}",
}
PACKED = JSON + b"Content-Encoding: gzip\r\n"
LISTS = {
    **{name: head(headers=JSON) + json.dumps({"data": e}).encode() for name, e in ENTRIES.items()},
    **{name: head(headers=JSON) + body for name, body in BODIES.items()},
    "a-bomb": head(headers=PACKED) + gzip.compress(b" " * 50_000_000, 6),
    "an-error": head(status="500 No", headers=JSON) + b'{"error":{"message":"\\ud83d"}}',
    "a-redirect": head(status="302 No", headers=b"Location: http://127.0.0.1:1/\r\n"),
    "no-http": b"\0\0\0\0",
}


def config(url: str) -> str:
    """Every odd list on both wires."""
    entries = [
        f'[[providers]]\nname = "{kind[0]}-{name}"\nkind = "{kind}"\n'
        f'base_url = "{url}/list/{name}/v1"\n'
        for name in LISTS
        for kind in ("openai", "anthropic")
    ]
    return "\n".join(entries)


async def ask(api: CampaignApi, model: str) -> tuple[int, dict[str, Any] | None]:
    """The status of the prompt's answer, and the run as it ended; None if there was none."""
    session = (await api.post("/api/sessions", {})).body["id"]
    body = {"input": "Hi", "model": model}
    answer = await api.post(f"/api/sessions/{session}/runs", body)
    return answer.status, await ended(api, answer.body["id"]) if answer.status == 202 else None


@pytest.mark.guarantee("E1")
async def test_an_odd_list_of_models_harms_only_its_own_provider(tmp_path: Path) -> None:
    async with HostileProvider((), LISTS) as provider:
        data = tmp_path / "data"
        data.mkdir(mode=0o700)
        (data / "tenuto.toml").write_text(config(provider.url))
        url = f"{provider.url}/v1"
        async with (
            TenutoServer(tmp_path, model_url=url, env=LIMITS) as server,
            aiohttp.ClientSession() as http,
        ):
            api = CampaignApi(server.url, server.token, http)
            models = (await api.get("/api/models"))["models"]
            assert "openai/m" in {model["id"] for model in models}
            assert all(0 < model["context_window"] <= 2**53 for model in models)
            assert max(len(model["name"]) for model in models) <= 256
            assert sum(model["provider"] == "o-many" for model in models) == 2000
            names = ("openai", *(f"{kind}-{name}" for name in LISTS for kind in "oa"))
            answers = await asyncio.gather(*(ask(api, f"{name}/m") for name in names))
            # One that could not say what it has is trusted with any name; another is not.
            assert {status for status, _ in answers} == {202, 422}
            assert {run["status"] for _, run in answers if run} == {"completed"}
            assert answers[0][0] == 202
            said = (await api.get("/api/providers"))["providers"]
            errors = {provider["name"]: provider["error"] for provider in said}
            assert errors["openai"] is None and errors["o-modalities"] is None
            assert "cannot be read" in errors["o-nested"]
            assert "traceback" not in server.log().lower()
