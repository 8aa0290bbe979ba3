"""What is known of a model, and who is believed first."""

from typing import Any

import pytest

from tenuto.agent.providers.catalogue.almanac import Almanac
from tenuto.agent.providers.catalogue.description import Describer
from tenuto.agent.providers.catalogue.setting import ModelSetting
from tenuto.agent.providers.kinds import KINDS
from tenuto.core.meter import Price
from tenuto.core.options import Effort
from tenuto.core.provider import ProviderKind
from tenuto.ports.model import Model

OPENAI = "https://api.openai.com/v1"
ELSEWHERE = "https://gateway.example/v1"
LOW_TO_HIGH = (Effort.LOW, Effort.MEDIUM, Effort.HIGH)


def describer(
    base_url: str = ELSEWHERE, kind: ProviderKind = ProviderKind.OPENAI, *settings: ModelSetting
) -> Describer:
    return KINDS[kind].describer("house", settings, Almanac().seller(base_url))


def listed(*entries: dict[str, Any], at: str = ELSEWHERE) -> list[Model]:
    return describer(at).listed({"data": list(entries)})


def names(kind: ProviderKind, *offered: str) -> list[str]:
    return [m.name for m in describer(OPENAI, kind).listed([{"id": name} for name in offered])]


def test_the_file_is_believed_before_the_listing_and_that_before_the_catalogue() -> None:
    said = {"id": "gpt-4o", "context_length": 7000}
    mine = ModelSetting(name="gpt-4o", price=Price(input=9.0, output=9.0))
    (by_file,) = describer(OPENAI, ProviderKind.OPENAI, mine).listed([said])
    (by_listing,) = describer(OPENAI).listed([said])
    (by_catalogue,) = describer(OPENAI).listed([{"id": "gpt-4o"}])
    (by_family,) = describer(OPENAI).listed([{"id": "claude-unheard-of"}])
    (by_default,) = describer(OPENAI).listed([{"id": "unheard-of"}])
    assert [
        (m.source, m.context_window, m.price and m.price.input)
        for m in (by_file, by_listing, by_catalogue, by_family, by_default)
    ] == [
        ("file", 7000, 9.0),
        ("listing", 7000, 2.5),
        ("catalogue", 128_000, 2.5),
        ("family", 200_000, None),
        ("default", 128_000, None),
    ]


def test_what_is_set_by_hand_counts_field_by_field() -> None:
    mine = ModelSetting(
        name="m", max_output=500, efforts=(Effort.LOW,), capabilities=("reasoning",)
    )
    (model,) = describer(ELSEWHERE, ProviderKind.OPENAI, mine).listed([])
    assert (model.max_output, model.efforts, model.capabilities, model.context_window) == (
        500,
        (Effort.LOW,),
        ("reasoning",),
        128_000,
    )


def test_a_model_of_the_catalogue_has_all_four_prices_and_its_limits() -> None:
    anthropic = describer("https://api.anthropic.com", ProviderKind.ANTHROPIC)
    model = anthropic.model("claude-sonnet-4-5-20250929")
    assert model.price == Price(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)
    assert (model.context_window, model.max_output) == (200_000, 64_000)
    assert model.capabilities == ("tools", "vision", "documents", "reasoning")
    assert model.efforts == (Effort.NONE, *LOW_TO_HIGH)


def test_a_dated_name_is_like_the_one_without_its_date() -> None:
    model = describer(OPENAI).model("gpt-4o-2031-02-03")
    assert (model.source, model.context_window) == ("catalogue", 128_000)


def test_somebody_elses_price_is_not_ours() -> None:
    model = describer(ELSEWHERE).model("anthropic/claude-sonnet-4-5")
    assert (model.source, model.context_window, model.price) == ("catalogue", 200_000, None)


def test_what_speaks_only_responses_is_not_offered_for_chat_completions() -> None:
    offered = ("gpt-5-codex", "gpt-5.4-pro", "gpt-5")
    assert names(ProviderKind.OPENAI, *offered) == ["gpt-5"]
    assert names(ProviderKind.OPENAI_RESPONSES, *offered) == list(offered)


@pytest.mark.parametrize(
    "name",
    [
        "o3-deep-research",
        "o4-mini-deep-research-2025-06-26",
        "gpt-audio",
        "gpt-4o-audio-preview-2024-12-17",
        "computer-use-preview",
        "text-embedding-3-small",
        "gpt-4o-mini-tts",
        "gpt-4o-transcribe",
        "gpt-realtime",
        "gpt-image-1",
        "sora-2",
    ],
)
def test_what_cannot_chat_is_not_offered(name: str) -> None:
    assert names(ProviderKind.OPENAI_RESPONSES, name, "gpt-4o") == ["gpt-4o"]


def test_what_cannot_chat_is_offered_if_it_is_set_by_hand() -> None:
    mine = ModelSetting(name="gpt-audio")
    models = describer(OPENAI, ProviderKind.OPENAI, mine).listed([{"id": "gpt-audio"}])
    assert [m.name for m in models] == ["gpt-audio"]


def test_a_list_says_what_cannot_chat() -> None:
    models = listed(
        {"id": "a", "type": "embedding"},
        {"id": "b", "capabilities": {"completion_chat": False}},
        {"id": "c", "capabilities": ["embedding"]},
        {"id": "d", "supports_chat": False},
        {"id": "e", "type": "chat"},
    )
    assert [m.name for m in models] == ["e"]


def test_what_a_model_was_made_for_is_not_what_its_server_gives_it() -> None:
    trained, given = listed(
        {"id": "a", "meta": {"n_ctx_train": 131_072}},
        {"id": "b", "meta": {"n_ctx_train": 131_072, "n_ctx": 16_384}},
    )
    assert (trained.context_window, given.context_window) == (8192, 16_384)


@pytest.mark.parametrize("name", ["qwen2.5vl:7b", "qwen3-vl", "llava", "gemma3:4b", "pixtral-12b"])
def test_a_name_shows_that_a_model_sees(name: str) -> None:
    (model,) = listed({"id": name})
    assert "vision" in model.capabilities


@pytest.mark.parametrize(
    ("name", "efforts"),
    [
        ("gpt-5.77", LOW_TO_HIGH),
        ("o9", LOW_TO_HIGH),
        ("claude-opus-77", (Effort.NONE, *LOW_TO_HIGH)),
        ("claude-fable-77", LOW_TO_HIGH),
        ("gpt-4.1-more", ()),
        ("claude-3-5-haiku-more", ()),
    ],
)
def test_a_family_has_its_efforts(name: str, efforts: tuple[Effort, ...]) -> None:
    (model,) = listed({"id": name})
    assert model.efforts == efforts
    assert ("reasoning" in model.capabilities) is bool(efforts)


def test_a_list_as_openrouter_writes_it() -> None:
    (model,) = listed(
        {
            "id": "vendor/m",
            "context_length": 200_000,
            "top_provider": {"max_completion_tokens": 32_000},
            "architecture": {"input_modalities": ["text", "image", "file"]},
            "supported_parameters": ["tools", "include_reasoning", "temperature"],
            "pricing": {
                "prompt": "0.000003",
                "completion": "0.000015",
                "input_cache_read": "0.0000003",
                "input_cache_write": "0.00000375",
            },
        }
    )
    assert model.price == Price(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)
    assert set(model.capabilities) == {"tools", "vision", "documents", "reasoning"}
    assert (model.max_output, model.source) == (32_000, "listing")


def test_a_list_as_anthropic_writes_it() -> None:
    (model,) = describer("https://api.anthropic.com", ProviderKind.ANTHROPIC).listed(
        [
            {
                "id": "claude-unheard-of",
                "type": "model",
                "max_input_tokens": 500_000,
                "max_tokens": 90_000,
                "capabilities": {
                    "image_input": {"supported": True},
                    "pdf_input": {"supported": False},
                    "thinking": {"supported": True},
                    "effort": {
                        "supported": True,
                        "low": {"supported": True},
                        "high": {"supported": True},
                        "max": {"supported": False},
                    },
                },
            }
        ]
    )
    assert (model.context_window, model.max_output) == (500_000, 90_000)
    assert model.capabilities == ("tools", "vision", "reasoning")
    assert model.efforts == (Effort.LOW, Effort.HIGH)


@pytest.mark.parametrize("pricing", [{"prompt": "-1", "completion": "-1"}, {"input": "x"}, 5, None])
def test_an_odd_price_is_none(pricing: object) -> None:
    (model,) = listed({"id": "m", "pricing": pricing})
    assert model.price is None
