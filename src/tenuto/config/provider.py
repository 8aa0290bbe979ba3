"""The model providers that a server is told of."""

from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

from tenuto.config.secret import Secret
from tenuto.core.meter import Price
from tenuto.core.options import Effort
from tenuto.core.provider import ProviderKind, ProviderSource
from tenuto.core.value import Value

WITHOUT_SPACES = r"^[!-~]+$"


class Capability(StrEnum):
    TOOLS = "tools"
    VISION = "vision"
    DOCUMENTS = "documents"
    """It takes PDFs."""
    REASONING = "reasoning"


class ModelSettings(Value):
    """What the file says of one model of a provider."""

    id: Annotated[
        str, Meta(pattern=r"^\S+$", title="a name", description="The provider's own name for it.")
    ]
    context_window: Annotated[
        int | None, Meta(ge=1, description="Tokens that it can read at once.")
    ] = None
    max_output: Annotated[
        int | None, Meta(ge=1, description="Tokens that it can write at once.")
    ] = None
    capabilities: Annotated[tuple[Capability, ...], Meta(description="What it can do.")] = ()
    efforts: Annotated[
        tuple[Effort, ...], Meta(description="How hard it can be told to think.")
    ] = ()
    price: Annotated[
        Price | None,
        Meta(
            description="US dollars per million tokens: `{input, output, cache_read, "
            "cache_write}`; without the last two, input that the provider keeps is priced as any."
        ),
    ] = None


class ProviderSettings(Value):
    """A provider, ready to be asked."""

    name: str
    kind: ProviderKind
    base_url: str
    api_key: Secret | None = None
    """None: it wants none, as local servers do."""
    headers: dict[str, Secret] = msgspec.field(default_factory=dict)
    """That every request carries besides; some hold a key."""
    models: tuple[ModelSettings, ...] = ()
    """Empty: the provider lists them itself."""
    source: ProviderSource = ProviderSource.FILE
