"""The model providers that a server is told of."""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from tenuto.config.secret import Secret
from tenuto.core.provider import ProviderKind, ProviderSource
from tenuto.core.value import Value
from tenuto.ports.model import Price

WITHOUT_SPACES = r"^[!-~]+$"


class Capability(StrEnum):
    TOOLS = "tools"
    VISION = "vision"
    REASONING = "reasoning"


class ModelSettings(Value):
    """What the file says of one model of a provider."""

    id: Annotated[
        str, Meta(pattern=r"^\S+$", title="a name", description="The provider's own name for it.")
    ]
    context_window: Annotated[
        int | None, Meta(ge=1, description="Tokens that it can read at once.")
    ] = None
    capabilities: Annotated[tuple[Capability, ...], Meta(description="What it can do.")] = ()
    price: Annotated[
        Price | None,
        Meta(
            description="US dollars per million tokens: `{input, output, cached_input}`; without "
            "the last, input that the provider had kept is priced as other input."
        ),
    ] = None


class ProviderSettings(Value):
    """A provider, ready to be asked."""

    name: str
    kind: ProviderKind
    base_url: str
    api_key: Secret | None = None
    """None: it wants none, as local servers do."""
    models: tuple[ModelSettings, ...] = ()
    """Empty: the provider lists them itself."""
    source: ProviderSource = ProviderSource.FILE
