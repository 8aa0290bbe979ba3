"""What servers of one's own say of their models, asked in their own words."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, Self

import pytest
from aiohttp import web

from tenuto.agent.providers.catalogue import survey
from tenuto.agent.providers.catalogue.setting import ModelSetting, ProviderConfig, ProviderLimits
from tenuto.agent.providers.provider import HttpProvider
from tenuto.core.options import Effort
from tenuto.core.provider import ProviderKind
from tenuto.ports.model import Model

pytestmark = pytest.mark.anyio

Answers = dict[str, Any]


class OwnServer:
    """Answers each path with what it was given for it; anything else is not found."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.asked: list[str] = []
        self.url = ""

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        path = request.path
        if request.method == "POST":
            path += " " + (await request.json())["model"]
        self.asked.append(path)
        if path not in self.answers:
            return web.json_response({"error": "there is no such thing"}, status=404)
        if self.answers[path] is ...:
            await asyncio.Event().wait()
        return web.json_response(self.answers[path])


Start = Callable[[Answers], Any]


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    stack: list[OwnServer] = []

    async def begin(answers: Answers) -> OwnServer:
        server = await OwnServer(answers).__aenter__()
        stack.append(server)
        return server

    yield begin
    for server in stack:
        await server.__aexit__()


async def models(
    server: OwnServer,
    *settings: ModelSetting,
    times: int = 1,
    kind: ProviderKind = ProviderKind.OPENAI,
) -> list[Model]:
    limits = ProviderLimits(list_seconds=2.0)
    config = ProviderConfig(
        name="own",
        kind=kind,
        base_url=server.url,
        limits=limits,
        models=settings,
    )
    provider = HttpProvider(config)
    try:
        for _ in range(times):
            found = await provider.models()
        return list(found)
    finally:
        await provider.close()


def listed(owner: str, *names: str, **fields: Any) -> Answers:
    return {"data": [{"id": name, "owned_by": owner, **fields} for name in names]}


LLAMA_CPP = listed("llamacpp", "qwen.gguf", meta={"n_ctx_train": 131_072})


@pytest.mark.parametrize(
    ("more", "capabilities"),
    [
        ({"chat_template_caps": {"supports_tools": True}}, ("tools",)),
        ({"chat_template_caps": {"supports_tools": False}}, ()),
        ({"chat_template": "{% if tools %}…"}, ("tools",)),
        ({"chat_template": "{{ messages }}"}, ()),
        ({"modalities": {"vision": True}}, ("tools", "vision")),
    ],
)
async def test_llama_cpp_says_its_window_and_what_its_template_can(
    start: Start, more: dict[str, Any], capabilities: tuple[str, ...]
) -> None:
    props = {"default_generation_settings": {"n_ctx": 16_384}, **more}
    (model,) = await models(await start({"/v1/models": LLAMA_CPP, "/props": props}))
    assert (model.context_window, model.source) == (16_384, "listing")
    assert model.capabilities == capabilities


async def test_a_llama_cpp_that_keeps_its_window_to_itself_is_not_trusted_with_much(
    start: Start,
) -> None:
    (model,) = await models(await start({"/v1/models": LLAMA_CPP}))
    assert model.context_window == 8192


async def test_one_that_has_many_models_tells_only_of_the_one_that_it_has(start: Start) -> None:
    props = {"default_generation_settings": {"n_ctx": 999}}
    many = listed("llamacpp", "a", "b")
    server = await start({"/v1/models": many, "/props": props})
    assert [m.context_window for m in await models(server)] == [128_000, 128_000]


LM_STUDIO = {
    "data": [
        {
            "id": "loaded",
            "type": "vlm",
            "max_context_length": 131_072,
            "loaded_context_length": 20_000,
            "capabilities": ["tool_use"],
        },
        {"id": "asleep", "type": "llm", "max_context_length": 131_072, "capabilities": []},
        {"id": "nomic", "type": "embeddings", "max_context_length": 2048},
    ]
}


async def test_lm_studio_says_what_is_loaded_and_with_which_window(start: Start) -> None:
    names = listed("organization_owner", "loaded", "asleep", "nomic", "forgotten")
    found = await models(await start({"/v1/models": names, "/api/v0/models": LM_STUDIO}))
    assert [(m.name, m.context_window, set(m.capabilities)) for m in found] == [
        ("loaded", 20_000, {"tools", "vision"}),
        ("asleep", 8192, set()),
        ("forgotten", 128_000, {"tools"}),
    ]


def shown(*capabilities: str, window: int = 131_072, parameters: str = "") -> Answers:
    return {
        "capabilities": list(capabilities),
        "model_info": {"general.architecture": "qwen2", "qwen2.context_length": window},
        "parameters": parameters,
    }


OLLAMA = {
    "/api/show see:7b": shown("completion", "vision"),
    "/api/show do:8b": shown("completion", "tools", "thinking", window=16_384),
    "/api/show set": shown("completion", parameters="stop x\nnum_ctx   65536\n"),
    "/api/show embed": shown("embedding"),
}


async def test_ollamas_own_list_is_completed_model_by_model(start: Start) -> None:
    tags = [{"name": n, "digest": "d"} for n in ("see:7b", "do:8b", "set", "embed", "gone")]
    server = await start({**OLLAMA, "/api/tags": {"models": tags}})
    found = await models(server, kind=ProviderKind.OLLAMA)
    assert [(m.name, m.context_window, set(m.capabilities)) for m in found] == [
        ("see:7b", 32_768, {"vision"}),
        ("do:8b", 16_384, {"tools", "reasoning"}),
        ("set", 65_536, set()),
        ("gone", 32_768, {"tools"}),
    ]
    assert found[1].efforts == (Effort.NONE, Effort.HIGH)


async def test_a_model_is_looked_at_once(start: Start) -> None:
    tags = [{"name": "see:7b", "digest": "d"}]
    server = await start({**OLLAMA, "/api/tags": {"models": tags}})
    await models(server, times=2, kind=ProviderKind.OLLAMA)
    assert server.asked == ["/api/tags", "/api/show see:7b", "/api/tags"]


async def test_an_ollama_that_is_asked_as_others_are_gives_the_window_that_it_gives(
    start: Start,
) -> None:
    loaded = {"models": [{"name": "see:7b", "context_length": 12_000}]}
    names = listed("library", "see:7b", "do:8b", "embed")
    server = await start({**OLLAMA, "/v1/models": names, "/api/ps": loaded})
    found = await models(server)
    assert [(m.name, m.context_window) for m in found] == [("see:7b", 12_000), ("do:8b", 8192)]


async def test_what_is_set_by_hand_counts_before_what_the_server_says(start: Start) -> None:
    server = await start({**OLLAMA, "/api/tags": {"models": [{"name": "do:8b", "digest": "d"}]}})
    mine = ModelSetting(name="do:8b", context_window=99_000)
    (model,) = await models(server, mine, kind=ProviderKind.OLLAMA)
    assert (model.context_window, set(model.capabilities)) == (99_000, {"tools", "reasoning"})


@pytest.mark.parametrize("silent", ["/props", "/api/v0/models"])
async def test_one_who_does_not_tell_more_is_listed_all_the_same(
    start: Start, silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(survey, "SECONDS", 0.2)
    owner = "llamacpp" if silent == "/props" else "organization_owner"
    server = await start({"/v1/models": listed(owner, "m"), silent: ...})
    assert [m.name for m in await models(server)] == ["m"]


@pytest.mark.parametrize("odd", [5, [], {}, {"data": 5}, {"data": [5, {}, {"id": []}]}, "x", None])
async def test_an_odd_answer_is_as_none(start: Start, odd: Any) -> None:
    for owner in ("llamacpp", "organization_owner", "library"):
        answers = dict.fromkeys(("/props", "/api/v0/models", "/api/ps", "/api/show m"), odd)
        server = await start({**answers, "/v1/models": listed(owner, "m")})
        assert [m.name for m in await models(server)] == ["m"]
