"""LiteLLM's public table of models, read into a book of ours.

It is the same whether it comes out of that project's package (`make models`) or from its address
(`refresh.py`). What it says is checked here, and nowhere else.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from tenuto.agent.providers.catalogue.facts import Book, Facts
from tenuto.agent.providers.connection.foreign import NAME_CHARACTERS, UNREADABLE, is_sound, tokens
from tenuto.core.meter import Price
from tenuto.core.options import Effort

SOURCE = "LiteLLM, MIT licence, copyright 2023 Berri AI"
ADDRESS = (
    "https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json"
)
SELLERS: Mapping[str, str] = {
    "openai": "openai",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "mistral": "mistral",
    "groq": "groq",
    "deepseek": "deepseek",
    "xai": "xai",
    "together_ai": "together",
    "fireworks_ai": "fireworks",
    "cerebras": "cerebras",
    "moonshot": "moonshot",
    "zai": "zai",
    "minimax": "minimax",
    "perplexity": "perplexity",
    "deepinfra": "deepinfra",
    "novita": "novita",
    "nebius": "nebius",
    "dashscope": "dashscope",
    "sambanova": "sambanova",
    "cohere_chat": "cohere",
    "scaleway": "scaleway",
    "baseten": "baseten",
    "vercel_ai_gateway": "vercel",
}
"""Those that matter, as they are called there and here."""
TALKING = ("chat", "responses")
FEWEST = 300
"""Models, below which it is not the table that it says it is."""
MOST_DOLLARS = 10_000.0
"""For a million tokens; what is beyond it is a mistake of the table."""

_ODD = re.compile(
    r"audio|realtime|-live|-tts|transcribe|deep-research|computer-use|search-(?:preview|api)|guard"
    r"|moderation|embed|lyria|robotics|veo|imagen|container|^ft:|-fim\b|ocr"
)
"""What is listed as talking, and is for something else."""
_ALWAYS_THINKS = re.compile(r"claude-(?:fable|mythos)")
_ABILITIES = {
    "supports_function_calling": "tools",
    "supports_vision": "vision",
    "supports_pdf_input": "documents",
    "supports_reasoning": "reasoning",
}


class NoTable(Exception):
    """What was read is not the table; the reason is for people."""


def read(raw: bytes, *, made: str) -> Book:
    """The part of the table that we use. Raises NoTable."""
    try:
        table = msgspec.json.decode(raw, type=dict[str, dict[str, Any]])
    except UNREADABLE as error:
        raise NoTable("it is not the JSON that it should be") from error
    models: dict[str, dict[str, Facts]] = {seller: {} for seller in SELLERS.values()}
    mute: dict[str, set[str]] = {seller: set() for seller in SELLERS.values()}
    for seller, name, row in _rows(table):
        if _talks(name, row):
            models[seller][name] = _facts(seller, name, row)
        elif row.get("mode"):
            mute[seller].add(name)
    if sum(map(len, models.values())) < FEWEST:
        raise NoTable("it has hardly any models")
    return Book(
        made=made,
        source=SOURCE,
        models={seller: dict(sorted(found.items())) for seller, found in models.items()},
        mute={seller: tuple(sorted(found)) for seller, found in mute.items()},
    )


def _rows(table: Mapping[str, dict[str, Any]]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for key, row in table.items():
        theirs = row.get("litellm_provider")
        seller = SELLERS.get(theirs) if isinstance(theirs, str) else None
        name = key.removeprefix(f"{theirs}/").removeprefix("cohere/")
        if seller and is_sound(name, limit=NAME_CHARACTERS):
            yield seller, name, row


def _talks(name: str, row: Mapping[str, Any]) -> bool:
    if row.get("mode") not in TALKING or _ODD.search(name.lower()):
        return False
    ways = row.get("supported_endpoints")
    return not isinstance(ways, list) or any(
        isinstance(way, str) and way.endswith(("/chat/completions", "/responses", "/messages"))
        for way in ways
    )


def _facts(seller: str, name: str, row: Mapping[str, Any]) -> Facts:
    return Facts(
        window=tokens(row.get("max_input_tokens")) or None,
        output=tokens(row.get("max_output_tokens")) or None,
        abilities=tuple(word for field, word in _ABILITIES.items() if row.get(field) is True),
        efforts=tuple(_efforts(seller, name, row)),
        price=_price(row),
        only="responses" if row.get("mode") == "responses" else "",
    )


def _efforts(seller: str, name: str, row: Mapping[str, Any]) -> Iterator[Effort]:
    if row.get("supports_reasoning") is not True:
        return
    if row.get("supports_none_reasoning_effort") is True or (
        seller == "anthropic" and not _ALWAYS_THINKS.match(name)
    ):
        yield Effort.NONE
    yield from (Effort.LOW, Effort.MEDIUM, Effort.HIGH)
    if any(row.get(f"supports_{most}_reasoning_effort") is True for most in ("max", "xhigh")):
        yield Effort.MAX


def _price(row: Mapping[str, Any]) -> Price | None:
    asked, said = _dollars(row, "input_cost_per_token"), _dollars(row, "output_cost_per_token")
    if asked is None or said is None:
        return None
    return Price(
        input=asked,
        output=said,
        cache_read=_dollars(row, "cache_read_input_token_cost"),
        cache_write=_dollars(row, "cache_creation_input_token_cost"),
    )


def _dollars(row: Mapping[str, Any], field: str) -> float | None:
    """For a million tokens."""
    given = row.get(field)
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    million = round(given * 1_000_000, 6)
    return million if 0 <= million <= MOST_DOLLARS else None
