"""The book of what is generally known of models."""

import json
from pathlib import Path
from typing import Any

import pytest

from tenuto.agent.providers.catalogue import almanac, dataset
from tenuto.agent.providers.catalogue.almanac import Almanac
from tenuto.agent.providers.catalogue.facts import HOSTS, MAKERS
from tenuto.core.meter import Price
from tenuto.core.options import Effort

ANTHROPIC = "https://api.anthropic.com"
CHAT = {"litellm_provider": "openai", "mode": "chat"}


def table(**rows: dict[str, Any]) -> bytes:
    many = {f"filler-{n}": {**CHAT, "max_input_tokens": 1} for n in range(dataset.FEWEST)}
    return json.dumps({"sample_spec": {"mode": "one of"}, **many, **rows}).encode()


def kept(folder: Path, made: str) -> Path:
    path = folder / almanac.KEPT
    book = {"made": made, "source": "a test", "models": {"anthropic": {"mine": {"window": 77}}}}
    path.write_text(json.dumps(book))
    return path


def test_the_shipped_book_is_sound() -> None:
    book = Almanac().book
    assert set(book.models) >= {*HOSTS.values(), *MAKERS}
    models = [(s, n, facts) for s, found in book.models.items() for n, facts in found.items()]
    assert len(models) > 800
    for seller, name, facts in models:
        assert facts.window is None or 0 < facts.window <= 20_000_000, name
        assert facts.output is None or 0 < facts.output <= 20_000_000, name
        assert facts.price is None or 0 <= facts.price.input <= 1000, name
        assert name not in book.mute[seller]
    assert sum(f.price is not None for *_, f in models) > 0.9 * len(models)
    assert book.models["openai"]["gpt-4o"].price == Price(input=2.5, output=10.0, cache_read=1.25)
    assert "text-embedding-3-small" in book.mute["openai"]


def test_the_licence_is_beside_it() -> None:
    notice = almanac.SHIPPED.with_name("models.LICENSE").read_text()
    assert "MIT License" in notice and "Copyright (c) 2023 Berri AI" in notice


def test_nothing_is_read_before_something_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(almanac, "SHIPPED", tmp_path / "nowhere")
    seller = Almanac(tmp_path).seller(ANTHROPIC)
    monkeypatch.undo()
    assert seller.facts("claude-sonnet-4-5") is not None


@pytest.mark.parametrize(("made", "window"), [("2999-01-01", 77), ("2001-01-01", None)])
def test_the_newer_book_counts(tmp_path: Path, made: str, window: int | None) -> None:
    kept(tmp_path, made)
    facts = Almanac(tmp_path).seller(ANTHROPIC).facts("mine")
    assert (facts and facts.window) == window


@pytest.mark.parametrize("damage", [b"", b"{", b'{"made": 5}', b"\xff"])
def test_a_damaged_book_is_not_believed(tmp_path: Path, damage: bytes) -> None:
    kept(tmp_path, "2999-01-01").write_bytes(damage)
    assert Almanac(tmp_path).seller(ANTHROPIC).facts("claude-sonnet-4-5") is not None


def test_a_row_of_the_table_is_read() -> None:
    row = {
        **CHAT,
        "max_input_tokens": 1000,
        "max_output_tokens": 500,
        "input_cost_per_token": 2e-06,
        "output_cost_per_token": 8e-06,
        "cache_read_input_token_cost": 5e-07,
        "supports_function_calling": True,
        "supports_reasoning": True,
        "supports_none_reasoning_effort": True,
        "supports_xhigh_reasoning_effort": True,
    }
    facts = dataset.read(table(m=row), made="2030-01-01").models["openai"]["m"]
    assert (facts.window, facts.output, facts.only) == (1000, 500, "")
    assert facts.price == Price(input=2.0, output=8.0, cache_read=0.5)
    assert facts.abilities == ("tools", "reasoning")
    assert facts.efforts == tuple(Effort)


@pytest.mark.parametrize(
    "row",
    [
        {"mode": "embedding"},
        {"mode": "chat", "supported_endpoints": ["/v1/realtime"]},
    ],
)
def test_what_cannot_talk_is_known_as_such(row: dict[str, Any]) -> None:
    book = dataset.read(table(m={**CHAT, **row}), made="2030-01-01")
    assert "m" not in book.models["openai"] and "m" in book.mute["openai"]


@pytest.mark.parametrize(
    "row",
    [
        {"max_input_tokens": "many", "max_output_tokens": -5, "input_cost_per_token": "much"},
        {"max_input_tokens": None, "input_cost_per_token": 1.0, "output_cost_per_token": 1.0},
        {"max_input_tokens": True, "input_cost_per_token": -1, "output_cost_per_token": 0},
        {"supported_endpoints": 5, "supports_vision": "yes"},
    ],
)
def test_an_odd_row_is_a_model_of_which_nothing_is_known(row: dict[str, Any]) -> None:
    facts = dataset.read(table(m={**CHAT, **row}), made="2030-01-01").models["openai"]["m"]
    assert (facts.window, facts.output, facts.price, facts.abilities) == (None, None, None, ())


@pytest.mark.parametrize("raw", [b"", b"[]", b'{"a": 5}', b"{}", b'{"a": {"mode": "chat"}}'])
def test_what_is_no_table_is_refused(raw: bytes) -> None:
    with pytest.raises(dataset.NoTable):
        dataset.read(raw, made="2030-01-01")
