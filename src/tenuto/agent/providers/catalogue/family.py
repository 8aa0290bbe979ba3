"""What a model's name gives away, for those that nobody has told us of."""

import re

from tenuto.agent.providers.catalogue.facts import Facts
from tenuto.core.options import Effort

_STEPS = (Effort.LOW, Effort.MEDIUM, Effort.HIGH)
_ALL = ("tools", "vision", "documents", "reasoning")
_SIGHT = ("tools", "vision")

NO_CHAT = re.compile(
    r"embed|whisper|^tts-|-tts\b|dall-e|moderation|transcribe|realtime|gpt-image|sora|rerank"
    r"|babbage|davinci|deep-research|gpt-audio|-audio-preview|computer-use|-guard\b|imagen|^veo-"
)
"""Names of what is for something else than talking."""

FAMILIES = tuple(
    (re.compile(pattern), facts)
    for pattern, facts in (
        (r"gpt-oss", Facts(window=131_072, abilities=("tools", "reasoning"), efforts=_STEPS)),
        (r"gpt-[5-9].*-chat", Facts(window=128_000, output=16_384, abilities=_SIGHT)),
        (r"gpt-[5-9]", Facts(window=272_000, output=128_000, abilities=_ALL, efforts=_STEPS)),
        (r"^o[1-9]\b", Facts(window=200_000, output=100_000, abilities=_ALL, efforts=_STEPS)),
        (r"gpt-4\.1", Facts(window=1_000_000, output=32_768, abilities=_SIGHT)),
        (r"gpt-4o|gpt-4-turbo|chatgpt", Facts(window=128_000, output=16_384, abilities=_SIGHT)),
        (r"gpt-4", Facts(window=8192, output=4096, abilities=("tools",))),
        (r"gpt-3\.5", Facts(window=16_385, output=4096, abilities=("tools",))),
        (r"claude-(?:instant|2|3-)", Facts(window=200_000, output=4096, abilities=_SIGHT)),
        (
            r"claude-(?:fable|mythos)",
            Facts(window=200_000, output=64_000, abilities=_ALL, efforts=_STEPS),
        ),
        (
            r"claude",
            Facts(window=200_000, output=64_000, abilities=_ALL, efforts=(Effort.NONE, *_STEPS)),
        ),
        (r"gemini", Facts(window=1_048_576, output=65_536, abilities=_ALL, efforts=_STEPS)),
        (
            r"pixtral|llava|vision|vl\b|gemma-?[34]|llama-?4|moondream|minicpm-v|mistral-small3",
            Facts(abilities=_SIGHT),
        ),
        (r"qwq|deepseek-r1|magistral|-thinking", Facts(abilities=("tools", "reasoning"))),
    )
)
"""The first that fits counts."""


def family_of(name: str) -> Facts | None:
    short = name.lower().rpartition("/")[2]
    return next((facts for pattern, facts in FAMILIES if pattern.search(short)), None)
