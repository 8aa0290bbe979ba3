"""All providers as one."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from tenuto.agent.providers.catalogue import catalogue as catalogue_module
from tenuto.agent.providers.catalogue.catalogue import Catalogue, CatalogueConfig
from tenuto.agent.providers.catalogue.setting import ModelSetting, ProviderConfig, ProviderLimits
from tenuto.core.error import ModelNotFound
from tenuto.core.provider import KeptProvider, ProviderKind
from tests.providers.asking import REQUEST, Hearing, texts
from tests.support.model_server import ModelServer, answer

pytestmark = pytest.mark.anyio

Build = Callable[..., Catalogue]


@pytest.fixture
async def build(tmp_path: Path) -> AsyncIterator[Build]:
    """Makes catalogues that look for no local server unless told, and closes them."""
    built: list[Catalogue] = []

    def make(
        *providers: ProviderConfig,
        local: tuple[ProviderConfig, ...] = (),
        default_model: str | None = None,
    ) -> Catalogue:
        config = CatalogueConfig(
            providers=providers, local=local, default_model=default_model, models_dir=tmp_path
        )
        built.append(Catalogue(config))
        return built[-1]

    yield make
    for catalogue in built:
        await catalogue.close()


def house(server: ModelServer) -> ProviderConfig:
    return ProviderConfig(name="house", kind=ProviderKind.OPENAI, base_url=server.url)


@pytest.fixture
def dead_url() -> Iterator[str]:
    """Nobody listens there."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}/v1"


@pytest.fixture
def silent_url() -> Iterator[str]:
    """Something listens there and never answers."""
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        yield f"http://127.0.0.1:{mute.getsockname()[1]}/v1"


async def test_models_of_all_providers_are_listed_and_the_first_is_the_default(
    server: ModelServer, build: Build
) -> None:
    server.models = ["one", "vendor/two"]
    other = ProviderConfig(name="other", kind=ProviderKind.ANTHROPIC, base_url=server.url)
    models, default = await build(house(server), other).list()
    assert [m.id for m in models] == [
        "house/one",
        "house/vendor/two",
        "other/one",
        "other/vendor/two",
    ]
    assert default == "house/one"


async def test_a_model_is_found_and_its_provider_answers(server: ModelServer, build: Build) -> None:
    server.models = ["vendor/two"]
    server.script(answer("Hello"))
    catalogue = build(house(server))
    model = await catalogue.find("house/vendor/two")
    assert (model.name, model.provider) == ("vendor/two", "house")
    pieces = await Hearing(catalogue.provider(model).stream(REQUEST)).all()
    assert texts(pieces) == "Hello"


async def test_without_a_name_the_default_is_found(server: ModelServer, build: Build) -> None:
    server.models = ["one", "two"]
    assert (await build(house(server)).find(None)).id == "house/one"
    chosen = build(house(server), default_model="house/two")
    assert (await chosen.find(None)).id == "house/two"
    assert (await chosen.list())[1] == "house/two"


async def test_an_unknown_default_is_told_as_such(server: ModelServer, build: Build) -> None:
    catalogue = build(house(server), default_model="house/gone")
    with pytest.raises(ModelNotFound, match="configured default model 'house/gone'"):
        await catalogue.find(None)


async def test_an_unknown_model_names_the_nearest_one(server: ModelServer, build: Build) -> None:
    server.models = ["gpt-large", "tiny"]
    with pytest.raises(ModelNotFound, match="did you mean 'house/gpt-large'"):
        await build(house(server)).find("house/gpt-lrge")


async def test_a_model_that_is_new_is_found_at_once(server: ModelServer, build: Build) -> None:
    catalogue = build(house(server))
    await catalogue.list()
    server.models = ["test-model", "brand-new"]
    assert [m.id for m in (await catalogue.list())[0]] == ["house/test-model"]
    assert (await catalogue.find("house/brand-new")).id == "house/brand-new"


async def test_a_provider_that_cannot_list_is_trusted_with_any_name_of_its_own(
    server: ModelServer, build: Build, dead_url: str
) -> None:
    large = ModelSetting(name="large", context_window=9000)
    dead = ProviderConfig(name="dead", kind=ProviderKind.OPENAI, base_url=dead_url, models=(large,))
    catalogue = build(dead, house(server))
    models, default = await catalogue.list()
    assert [m.id for m in models] == ["dead/large", "house/test-model"]
    assert default == "dead/large"
    assert (await catalogue.find("dead/large")).context_window == 9000
    assert (await catalogue.find("dead/any/name")).name == "any/name"
    for unknown in ("dead/", "house/any", "nobody/any", "any"):
        with pytest.raises(ModelNotFound):
            await catalogue.find(unknown)


@pytest.mark.failure(30)
async def test_a_silent_provider_holds_up_a_known_model_only_once(
    server: ModelServer, build: Build, silent_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = ProviderLimits(list_seconds=0.3)
    silent = ProviderConfig(
        name="silent", kind=ProviderKind.OPENAI, base_url=silent_url, limits=patient
    )
    catalogue = build(silent, house(server))
    assert (await catalogue.find("house/test-model")).id == "house/test-model"
    # From now on the list is always old, and its renewal never ends in time.
    monkeypatch.setattr(catalogue_module, "FRESH_SECONDS", 0.0)
    finding = asyncio.create_task(catalogue.find("house/test-model"))
    await asyncio.sleep(0)
    assert finding.done(), "a known model must not wait for any network"


async def test_a_list_that_fails_later_keeps_what_was_known(
    server: ModelServer, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue_module, "FRESH_SECONDS", 0.0)
    catalogue = build(house(server))
    await catalogue.list()
    server.models_status = 500
    assert [m.id for m in (await catalogue.list())[0]] == ["house/test-model"]


async def test_a_local_server_is_found_by_itself(server: ModelServer, build: Build) -> None:
    ollama = ProviderConfig(name="ollama", kind=ProviderKind.OPENAI, base_url=server.url)
    catalogue = build(local=(ollama,))
    models, default = await catalogue.list()
    assert [m.id for m in models] == ["ollama/test-model"]
    assert default == "ollama/test-model"
    assert catalogue.provider(models[0]).name == "ollama"


async def test_the_embedded_model_is_offered_only_when_there_is_no_other(
    server: ModelServer, build: Build, dead_url: str
) -> None:
    absent = ProviderConfig(name="ollama", kind=ProviderKind.OPENAI, base_url=dead_url)
    alone = build(local=(absent,))
    models, default = await alone.list()
    assert [m.id for m in models] == ["embedded/smollm2-135m"]
    assert default == "embedded/smollm2-135m"
    assert alone.provider(await alone.find(None)).name == "embedded"
    # A configured provider counts also when it does not answer now.
    dead = ProviderConfig(name="dead", kind=ProviderKind.OPENAI, base_url=dead_url)
    with pytest.raises(ModelNotFound):
        await build(dead, local=(absent,)).find("embedded/smollm2-135m")


async def test_the_usual_local_servers_are_looked_for(tmp_path: Path) -> None:
    config = CatalogueConfig(models_dir=tmp_path)
    assert [(p.name, p.base_url) for p in config.local] == [
        ("ollama", "http://127.0.0.1:11434"),
        ("lmstudio", "http://127.0.0.1:1234/v1"),
        ("llamacpp", "http://127.0.0.1:8080/v1"),
    ]


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (["zeta", "alpha"], "zeta"),
        (["gpt-4", "gpt-3.5", "gpt-5.1", "gpt-5", "gpt-5-mini"], "gpt-5.1"),
        (["claude-opus-9", "claude-sonnet-9", "claude-sonnet-8"], "claude-sonnet-9"),
        (["openai/gpt-9", "anthropic/claude-3-sonnet"], "anthropic/claude-3-sonnet"),
        (["gpt-4-0613", "o9"], "gpt-4-0613"),
    ],
)
async def test_the_first_choice_is_a_sensible_one(
    server: ModelServer, build: Build, offered: list[str], chosen: str
) -> None:
    server.models = offered
    assert (await build(house(server)).list())[1] == f"house/{chosen}"


async def test_what_is_put_while_everyone_is_asked_is_not_lost(
    server: ModelServer, build: Build, silent_url: str
) -> None:
    patient = ProviderLimits(list_seconds=0.3)
    silent = ProviderConfig(
        name="silent", kind=ProviderKind.OPENAI, base_url=silent_url, limits=patient
    )
    catalogue = build(silent)
    asking = asyncio.create_task(catalogue.list())
    await asyncio.sleep(0)
    catalogue.put(KeptProvider(name="lab", kind=ProviderKind.OPENAI, base_url=server.url))
    await catalogue.refresh("lab")
    await asking
    assert (await catalogue.find("lab/test-model")).id == "lab/test-model"
    catalogue.remove("lab")
    with pytest.raises(ModelNotFound):
        await catalogue.find("lab/test-model")


async def test_a_kept_provider_stands_before_a_local_one_and_behind_a_configured_one(
    server: ModelServer, build: Build, dead_url: str
) -> None:
    local = ProviderConfig(name="ollama", kind=ProviderKind.OPENAI, base_url=server.url)
    catalogue = build(house(server), local=(local,))
    await catalogue.list()
    for name in ("ollama", "house"):
        kept = KeptProvider(name=name, kind=ProviderKind.OPENAI, base_url=dead_url)
        catalogue.put(kept)
        await catalogue.refresh(name)
    shown = {s.name: (s.source, s.base_url) for s in catalogue.standings()}
    assert shown == {"house": ("file", server.url), "ollama": ("settings", dead_url)}
    catalogue.remove("ollama")
    catalogue.remove("house")
    await catalogue.refresh("ollama")
    assert [(s.name, s.source) for s in catalogue.standings()] == [
        ("house", "file"),
        ("ollama", "local"),
    ]
