"""What is set about providers and their models, frozen."""

import msgspec

from tenuto.core.meter import Price
from tenuto.core.options import Effort
from tenuto.core.provider import ProviderKind, ProviderSource
from tenuto.core.value import Value


class ProviderLimits(Value):
    """How long a provider may take. A slow local model's first token may take minutes."""

    connect_seconds: float = 30.0
    stall_seconds: float = 600.0
    """Without a single byte; any byte starts it anew."""
    list_connect_seconds: float = 5.0
    list_seconds: float = 5.0
    """For the list of its models, in all."""


class ModelSetting(Value):
    """What is known better than the provider says; a field that is None is not."""

    name: str
    """The provider's own name for it, without the provider's prefix."""
    context_window: int | None = None
    capabilities: tuple[str, ...] | None = None
    price: Price | None = None
    max_output: int | None = None
    efforts: tuple[Effort, ...] = ()


class ProviderConfig(Value):
    """One provider as configured."""

    name: str
    """The prefix of its models' ids."""
    kind: ProviderKind
    base_url: str
    api_key: str = ""
    """Empty: the server wants none."""
    headers: dict[str, str] = msgspec.field(default_factory=dict)
    """That every request carries besides."""
    models: tuple[ModelSetting, ...] = ()
    limits: ProviderLimits = ProviderLimits()
    source: ProviderSource = ProviderSource.FILE
