"""Providers that people have, by name: what to fill in for each."""

from enum import StrEnum

from tenuto.core.provider import PUBLIC_URLS, ProviderKind
from tenuto.core.value import Value


class KeyWish(StrEnum):
    NEEDED = "needed"
    OPTIONAL = "optional"


class Preset(Value):
    name: str
    """What the provider is called unless someone says otherwise."""
    title: str
    kind: ProviderKind
    base_url: str
    """Empty: it has to be given."""
    key: KeyWish
    variable: str
    """Of the environment, that usually holds the key; empty: there is none."""
    about: str


def _hosted(name: str, title: str, base_url: str, about: str = "") -> Preset:
    return Preset(
        name=name,
        title=title,
        kind=ProviderKind.OPENAI,
        base_url=base_url,
        key=KeyWish.NEEDED,
        variable=f"{name.upper()}_API_KEY",
        about=about or f"A key from your {title} account.",
    )


def _own(
    name: str, title: str, base_url: str, about: str, *, kind: ProviderKind = ProviderKind.OPENAI
) -> Preset:
    return Preset(
        name=name,
        title=title,
        kind=kind,
        base_url=base_url,
        key=KeyWish.OPTIONAL,
        variable="",
        about=about,
    )


FOUND = "On the server's own machine it is found by itself; add it here if it runs elsewhere."

PRESETS = (
    Preset(
        name="openai",
        title="OpenAI",
        kind=ProviderKind.OPENAI_RESPONSES,
        base_url=PUBLIC_URLS[ProviderKind.OPENAI_RESPONSES],
        key=KeyWish.NEEDED,
        variable="OPENAI_API_KEY",
        about="A key from your OpenAI account.",
    ),
    Preset(
        name="anthropic",
        title="Anthropic",
        kind=ProviderKind.ANTHROPIC,
        base_url=PUBLIC_URLS[ProviderKind.ANTHROPIC],
        key=KeyWish.NEEDED,
        variable="ANTHROPIC_API_KEY",
        about="A key from your Anthropic account.",
    ),
    _hosted(
        "gemini",
        "Gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "A key from Google AI Studio.",
    ),
    _hosted(
        "openrouter",
        "OpenRouter",
        "https://openrouter.ai/api/v1",
        "One key for the models of many companies.",
    ),
    _hosted("mistral", "Mistral", "https://api.mistral.ai/v1"),
    _hosted("groq", "Groq", "https://api.groq.com/openai/v1"),
    _hosted("deepseek", "DeepSeek", "https://api.deepseek.com/v1"),
    _hosted("xai", "xAI", "https://api.x.ai/v1"),
    _hosted("together", "Together", "https://api.together.xyz/v1"),
    _own("ollama", "Ollama", "http://127.0.0.1:11434", FOUND, kind=ProviderKind.OLLAMA),
    _own("lmstudio", "LM Studio", "http://127.0.0.1:1234/v1", f"Turn on its server first. {FOUND}"),
    _own("vllm", "vLLM", "http://127.0.0.1:8000/v1", "The address that vllm serve prints."),
    _own("llamacpp", "llama.cpp", "http://127.0.0.1:8080/v1", f"Start llama-server first. {FOUND}"),
    _own("custom", "Other", "", "Any server that speaks OpenAI's chat completions."),
)
BY_NAME = {preset.name: preset for preset in PRESETS}


def preset_for(name: str) -> Preset | None:
    """The preset of this name, if it fills in anything."""
    preset = BY_NAME.get(name)
    return preset if preset and preset.base_url else None
