"""What the strict servers know about their models."""

from dataclasses import dataclass
from typing import Literal

Flavour = Literal["openai", "gemini", "deepseek", "mistral", "openrouter", "kimi", "local"]


@dataclass(frozen=True)
class Facts:
    name: str
    window: int = 200_000
    max_output: int = 64_000
    sees: bool = True
    reads: bool = False
    """Whether it takes PDFs."""
    thinks: bool = False
    calls: bool = True
    """Whether it takes tools."""
    adaptive: bool = False
    """Claude since 4.7: thinks as much as it wants, and takes neither budgets nor temperatures."""
    prefills: bool = True
    """Whether a conversation may end with the assistant's own words; Claude before 4.6."""


OPUS = Facts(
    "claude-opus-4-8", reads=True, thinks=True, adaptive=True, prefills=False, max_output=128_000
)
SONNET = Facts("claude-sonnet-4-5", thinks=True)
GPT = Facts("gpt-5.6", reads=True, window=400_000, max_output=128_000, thinks=True)
GPT_PLAIN = Facts("gpt-4.1", window=1_000_000, max_output=32_768)
GEMINI = Facts("gemini-3.1-pro-preview", window=1_000_000, thinks=True)
DEEPSEEK = Facts("deepseek-v4-pro", window=1_000_000, thinks=True, sees=False)
MISTRAL = Facts("mistral-large-latest", window=128_000, max_output=128_000)
OPENROUTER = Facts("anthropic/claude-sonnet-4.5", thinks=True)
KIMI = Facts("kimi-k2.5", window=256_000, thinks=True)
LOCAL = Facts("devstral-small-2507", window=32_000, max_output=32_000, sees=False)
QWEN = Facts("qwen3:8b", window=40_960, max_output=40_960, thinks=True, sees=False)
