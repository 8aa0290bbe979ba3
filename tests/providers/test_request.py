"""What providers are sent."""

import base64

import pytest

from tenuto.agent.providers.catalogue.setting import ModelSetting
from tenuto.agent.providers.provider import HttpProvider
from tenuto.core.meter import Price
from tenuto.core.value import CallId
from tenuto.ports.model import (
    AssistantTurn,
    FileBlock,
    ModelRequest,
    TextBlock,
    Thought,
    ToolCall,
    ToolSpec,
    ToolTurn,
    UserTurn,
)
from tests.providers.asking import begin, user
from tests.providers.made import PNG, chat
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.anyio

IMAGE = FileBlock(name="cat.png", media_type="image/png", content=PNG)
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}


async def test_a_whole_conversation_is_sent(server: ModelServer, provider: HttpProvider) -> None:
    call = ToolCall(id=CallId("c1"), name="read_file", arguments='{"path":"a"}')
    request = ModelRequest(
        model="vendor/test-model",
        system="Be brief.",
        turns=(
            user("Read a"),
            AssistantTurn(blocks=(Thought(text="I should read it."), call)),
            ToolTurn(call_id=CallId("c1"), name="read_file", output="content"),
            AssistantTurn(blocks=(TextBlock(text="It says content."),)),
            user("Thanks"),
        ),
        tools=(ToolSpec(name="read_file", description="Reads.", parameters=SCHEMA),),
        max_tokens=99,
    )
    hearing, exchange = await begin(provider, server, request)
    function = {"name": "read_file", "arguments": '{"path":"a"}'}
    assert exchange.body == {
        "model": "vendor/test-model",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 99,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Read a"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "content"},
            {"role": "assistant", "content": "It says content."},
            {"role": "user", "content": "Thanks"},
        ],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "read_file",
                    "description": "Reads.",
                    "parameters": SCHEMA,
                },
            }
        ],
    }
    await exchange.say("ok")
    await hearing.all()


async def test_an_image_goes_to_a_model_that_sees(server: ModelServer) -> None:
    seeing = ModelSetting(name="test-model", capabilities=("vision",))
    provider = chat("house", server.url, models=[seeing])
    turn = UserTurn(blocks=(TextBlock(text="What is it?"), IMAGE))
    request = ModelRequest(model="test-model", system="", turns=(turn,))
    hearing, exchange = await begin(provider, server, request)
    url = "data:image/png;base64," + base64.b64encode(PNG).decode()
    assert exchange.messages[0]["content"] == [
        {"type": "text", "text": "What is it?"},
        {"type": "image_url", "image_url": {"url": url}},
    ]
    await exchange.say("A cat")
    await hearing.all()
    await provider.close()


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (IMAGE, "[Image cat.png (image/png, 70 bytes) cannot be seen by this model.]"),
        (
            FileBlock(name="a.py", media_type="application/octet-stream", content=b"x = 1\n"),
            '<file name="a.py">\nx = 1\n\n</file>',
        ),
        (
            FileBlock(name="alt.txt", media_type="text/plain", content="Grüße".encode("latin-1")),
            '<file name="alt.txt">\nGrüße\n</file>',
        ),
        (
            FileBlock(name="z.zip", media_type="application/zip", content=b"PK\x03\x04\x00"),
            "[Attached file z.zip (application/zip, 5 bytes) cannot be read by this model.]",
        ),
    ],
)
async def test_a_file_goes_as_text_or_as_a_note_to_a_model_that_does_not_see(
    server: ModelServer, provider: HttpProvider, file: FileBlock, text: str
) -> None:
    turn = UserTurn(blocks=(TextBlock(text="Look"), file))
    request = ModelRequest(model="test-model", system="", turns=(turn,))
    hearing, exchange = await begin(provider, server, request)
    assert exchange.messages[0]["content"] == f"Look\n\n{text}"
    await exchange.say("ok")
    await hearing.all()


async def test_models_are_described_by_what_their_server_says(server: ModelServer) -> None:
    server.models = [
        "plain",
        {"id": "a", "context_length": 1000},
        {"id": "b", "max_model_len": 2000},
        {"id": "c", "meta": {"n_ctx_train": 3000}},
        {"id": "d", "context_window": 4000, "capabilities": {"vision": True, "audio": False}},
        {"id": "e/f", "supported_parameters": ["temperature"]},
        {"id": "g", "architecture": {"input_modalities": ["text", "image"]}},
        "text-embedding-3-small",
    ]
    price = Price(input=1.0, output=2.0)
    better = ModelSetting(name="a", context_window=5000, capabilities=("reasoning",), price=price)
    provider = chat("house", server.url, models=[better, ModelSetting(name="hidden")])
    models = await provider.models()
    await provider.close()
    assert [(m.id, m.context_window, m.capabilities) for m in models] == [
        ("house/plain", 128000, ("tools",)),
        ("house/a", 5000, ("reasoning",)),
        ("house/b", 2000, ("tools",)),
        ("house/c", 3000, ("tools",)),
        ("house/d", 4000, ("tools", "vision")),
        ("house/e/f", 128000, ()),
        ("house/g", 128000, ("tools", "vision")),
        ("house/hidden", 128000, ("tools",)),
    ]
    assert models[1].price == price
