"""A model of one's own, as a file: what its head says, and the real small one under another name."""

import os
import struct
from pathlib import Path

import pytest

from tenuto.agent.providers.catalogue.catalogue import Catalogue, CatalogueConfig
from tenuto.agent.providers.catalogue.setting import ProviderConfig
from tenuto.agent.providers.embedded import own_file
from tenuto.agent.providers.embedded.gguf import Header, NoModel, header_of
from tenuto.agent.providers.embedded.model_file import FILE_NAME
from tenuto.agent.providers.embedded.own_file import OwnFile
from tenuto.agent.providers.embedded.provider import EmbeddedProvider
from tenuto.core.provider import ProviderKind
from tenuto.ports.model import Finished, ModelRequest, ProviderError, ToolSpec
from tests.providers.asking import user
from tests.providers.test_embedded import models_dir
from tests.support.model_server import ModelServer

__all__ = ["models_dir"]

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]

TEXT, LIST, U32 = 8, 9, 4


def text(words: str) -> bytes:
    return struct.pack("<Q", len(words.encode())) + words.encode()


def pair(key: str, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


def gguf(*pairs: bytes, version: int = 3, count: int | None = None) -> bytes:
    head = b"GGUF" + struct.pack("<IQQ", version, 0, len(pairs) if count is None else count)
    return head + b"".join(pairs)


WORDS = pair(
    "tokenizer.ggml.tokens", LIST, struct.pack("<IQ", TEXT, 3) + text("a") + text("") + text("ü")
)
SCORES = pair("tokenizer.ggml.scores", LIST, struct.pack("<IQ3f", 6, 3, 1, 2, 3))
ARCHITECTURE = pair("general.architecture", TEXT, text("qwen2"))
WINDOW = pair("qwen2.context_length", U32, struct.pack("<I", 40_000))
PLAIN = pair("tokenizer.chat_template", TEXT, text("{% for m in messages %}…"))
TOOLS = pair("tokenizer.chat_template", TEXT, text("{%- if tools %}…"))


@pytest.mark.parametrize(
    ("content", "header"),
    [
        (
            gguf(ARCHITECTURE, WINDOW, WORDS, SCORES, TOOLS),
            Header(window=40_000, has_tools=True),
        ),
        (gguf(WORDS, PLAIN, WINDOW, ARCHITECTURE), Header(window=40_000, has_tools=False)),
        (gguf(WINDOW), Header(window=None, has_tools=False)),
    ],
)
def test_the_head_says_what_the_model_can(tmp_path: Path, content: bytes, header: Header) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    assert header_of(path) == header


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no model",
        gguf(version=1),
        gguf(TOOLS, count=2),
        gguf(TOOLS)[:-3],
        gguf(pair("a", 77, b"")),
        gguf(pair("a", LIST, struct.pack("<IQ", TEXT, 1 << 60))),
        gguf(count=1 << 60),
    ],
)
def test_what_is_no_model_is_said(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    with pytest.raises(NoModel):
        header_of(path)


async def test_its_name_window_and_tools_are_the_files(tmp_path: Path) -> None:
    path = tmp_path / "My Qwen 7B.Q4.gguf"
    path.write_bytes(gguf(ARCHITECTURE, WINDOW, TOOLS))
    narrow, wide = (OwnFile(path, window=window) for window in (16_384, 100_000))
    (model,) = await EmbeddedProvider(narrow).models()
    assert (model.id, model.context_window, model.capabilities) == (
        "embedded/my-qwen-7b.q4",
        16_384,
        ("tools",),
    )
    assert (await wide.sheet()).window == 40_000


async def test_a_file_without_a_model_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "letter.gguf"
    path.write_bytes(b"Dear")
    provider = EmbeddedProvider(OwnFile(path, window=16_384))
    (model,) = await provider.models()
    request = ModelRequest(model=model.name, system="", turns=(user("Hi"),))
    with pytest.raises(ProviderError, match=r"letter\.gguf cannot be used: it is no GGUF file"):
        await anext(provider.stream(request))


async def test_a_model_of_ones_own_answers_and_is_offered_beside_others(
    models_dir: Path, tmp_path: Path, server: ModelServer
) -> None:
    mine = tmp_path / "Mine.gguf"
    os.symlink(models_dir / FILE_NAME, mine)
    house = ProviderConfig(name="house", kind=ProviderKind.OPENAI, base_url=server.url)
    config = CatalogueConfig(
        providers=(house,), local=(), models_dir=tmp_path, embedded_file=mine, embedded_window=2048
    )
    catalogue = Catalogue(config)
    try:
        models, default = await catalogue.list()
        assert [m.id for m in models] == ["house/test-model", "embedded/mine"]
        assert default == "house/test-model"
        model = await catalogue.find("embedded/mine")
        assert (model.context_window, model.capabilities) == (2048, ())
        request = ModelRequest(model="mine", system="", turns=(user("Say hello."),), max_tokens=8)
        pieces = [p async for ps in catalogue.provider(model).stream(request) for p in ps]
        assert isinstance(pieces[-1], Finished)
    finally:
        await catalogue.close()


async def test_its_server_takes_tools(models_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_file, "header_of", lambda _: Header(window=8192, has_tools=True))
    provider = EmbeddedProvider(OwnFile(models_dir / FILE_NAME, window=8192))
    spec = ToolSpec(name="look", description="Looks.", parameters={"type": "object"})
    request = ModelRequest(
        model="any", system="", turns=(user("Say hello."),), tools=(spec,), max_tokens=8
    )
    try:
        pieces = [piece async for batch in provider.stream(request) for piece in batch]
        assert isinstance(pieces[-1], Finished)
    finally:
        await provider.close()
