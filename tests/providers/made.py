"""Providers to try: one of each kind."""

import base64
from collections.abc import Sequence
from functools import partial

from tenuto.agent.providers.catalogue.setting import ModelSetting, ProviderConfig, ProviderLimits
from tenuto.agent.providers.provider import HttpProvider
from tenuto.agent.providers.wires.seals import Sealer
from tenuto.core.provider import ProviderKind
from tenuto.ports.model import Model


def made(
    kind: ProviderKind,
    name: str,
    base_url: str,
    key: str = "",
    *,
    limits: ProviderLimits | None = None,
    models: Sequence[ModelSetting] = (),
) -> HttpProvider:
    return HttpProvider(
        ProviderConfig(
            name=name,
            kind=kind,
            base_url=base_url,
            api_key=key,
            limits=limits or ProviderLimits(),
            models=tuple(models),
        )
    )


MODEL = Model(id="house/test-model", name="test-model", provider="house", context_window=9)
SEALER = Sealer("house", MODEL)

responses = partial(made, ProviderKind.OPENAI_RESPONSES)
chat = partial(made, ProviderKind.OPENAI)
anthropic = partial(made, ProviderKind.ANTHROPIC)
ollama = partial(made, ProviderKind.OLLAMA)

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""One dot."""
