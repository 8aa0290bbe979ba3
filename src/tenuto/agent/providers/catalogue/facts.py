"""What is generally known of models: who offers them, what they take, what they cost."""

from collections.abc import Mapping
from urllib.parse import urlsplit

import msgspec

from tenuto.core.meter import Price
from tenuto.core.options import Effort
from tenuto.core.value import Value

HOSTS: Mapping[str, str] = {
    "api.openai.com": "openai",
    "api.anthropic.com": "anthropic",
    "generativelanguage.googleapis.com": "gemini",
    "api.mistral.ai": "mistral",
    "api.groq.com": "groq",
    "api.deepseek.com": "deepseek",
    "api.x.ai": "xai",
    "api.together.xyz": "together",
    "api.together.ai": "together",
    "api.fireworks.ai": "fireworks",
    "api.cerebras.ai": "cerebras",
    "api.moonshot.ai": "moonshot",
    "api.moonshot.cn": "moonshot",
    "api.z.ai": "zai",
    "api.minimax.io": "minimax",
    "api.perplexity.ai": "perplexity",
    "api.deepinfra.com": "deepinfra",
    "api.novita.ai": "novita",
    "api.tokenfactory.nebius.com": "nebius",
    "api.studio.nebius.com": "nebius",
    "dashscope.aliyuncs.com": "dashscope",
    "dashscope-intl.aliyuncs.com": "dashscope",
    "api.sambanova.ai": "sambanova",
    "api.cohere.ai": "cohere",
    "api.scaleway.ai": "scaleway",
    "inference.baseten.co": "baseten",
    "ai-gateway.vercel.sh": "vercel",
}
"""Where the sellers are at home."""
MAKERS = ("openai", "anthropic", "gemini", "mistral", "deepseek", "xai", "moonshot", "zai")
"""Whose models others sell too, under the same names and for their own prices."""


class Facts(Value, omit_defaults=True):
    """What is known of one model; None is not known."""

    window: int | None = None
    """Tokens that it can read at once."""
    output: int | None = None
    """Tokens that it can write at once."""
    abilities: tuple[str, ...] | None = None
    """All that it has of those that `Model.capabilities` names."""
    efforts: tuple[Effort, ...] = ()
    price: Price | None = None
    only: str = ""
    """The one kind of wire that it speaks: `responses`; empty: the usual ones."""


class Book(Value):
    """Facts by seller and by the seller's name for a model."""

    made: str
    """The day that they are of, as YYYY-MM-DD."""
    source: str
    """Whose they are."""
    models: dict[str, dict[str, Facts]]
    mute: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """By seller, names of what cannot chat."""


def seller_at(base_url: str) -> str:
    """Who is asked there; empty for a server that nobody knows."""
    return HOSTS.get(urlsplit(base_url).hostname or "", "")
