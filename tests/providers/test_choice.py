"""Which model to begin with, and which for titles and summaries."""

import pytest

from tenuto.agent.providers.catalogue.choice import cheapest, first_choice
from tenuto.core.meter import Price
from tenuto.ports.model import Model


def model(
    name: str,
    dollars: float | None = None,
    *,
    provider: str = "house",
    window: int = 200_000,
    capabilities: tuple[str, ...] = ("tools",),
) -> Model:
    return Model(
        id=f"{provider}/{name}",
        name=name,
        provider=provider,
        context_window=window,
        capabilities=capabilities,
        price=None if dollars is None else Price(input=dollars, output=5 * dollars),
    )


DEAR = model("dear", 10.0)


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        ([model("gpt-7-grand", 50.0), model("gpt-7", 2.0), model("gpt-6", 2.0)], "gpt-7"),
        ([model("gpt-7-mini", 0.5), model("gpt-6", 2.0)], "gpt-6"),
        ([model("gpt-7-nano", 0.01), model("gpt-6", 2.0)], "gpt-6"),
        ([model("gemini-4-flash", 1.0), model("gemini-3.5-pro", 2.0)], "gemini-3.5-pro"),
        ([model("gpt-9-preview", 2.0), model("gpt-5", 2.0)], "gpt-5"),
        ([model("claude-opus-9", 4.0), model("claude-sonnet-8", 2.0)], "claude-sonnet-8"),
        ([model("claude-sonnet-4-5", 3.0), model("claude-sonnet-5", 2.0)], "claude-sonnet-5"),
        ([model("glm-5", 1.0), model("house-large-4", 1.0)], "house-large-4"),
        ([model("gpt-9", 2.0, capabilities=()), model("gpt-8", 2.0)], "gpt-8"),
        ([model("mute", capabilities=())], "mute"),
    ],
)
def test_the_first_choice_is_new_and_neither_dear_nor_a_toy(
    offered: list[Model], chosen: str
) -> None:
    found = first_choice(offered)
    assert found is not None and found.name == chosen


def test_without_models_there_is_no_choice() -> None:
    assert first_choice([]) is None


@pytest.mark.parametrize(
    "others",
    [
        [],
        [model("other", 0.1, provider="other")],
        [model("unknown")],
        [model("free", 0.0)],
        [model("dearer", 11.0)],
        [model("narrow", 0.1, window=8000)],
        [model("weak", 0.1, capabilities=())],
    ],
)
def test_what_is_not_suitable_is_not_the_small_one(others: list[Model]) -> None:
    assert cheapest([DEAR, *others], DEAR) == DEAR


def test_the_small_one_is_the_cheapest_of_its_provider() -> None:
    offered = [DEAR, model("fair", 1.0), model("cheap", 0.1)]
    assert cheapest(offered, DEAR).name == "cheap"


def test_a_model_without_a_price_is_its_own_small_one() -> None:
    local = model("local")
    assert cheapest([local, model("cheap", 0.1)], local) == local
