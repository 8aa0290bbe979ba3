"""What the routes can reach."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from tenuto.api.metrics import Metrics
from tenuto.core.principal import Principal
from tenuto.core.sandbox import Sandboxing
from tenuto.core.value import Instant, Value
from tenuto.engine.engine import Engine
from tenuto.engine.mcp import McpKeeper
from tenuto.engine.providers import ProviderKeeper
from tenuto.engine.settings import SettingsKeeper
from tenuto.ports.clock import Clock
from tenuto.ports.model import Models
from tenuto.ports.query import NodeStanding
from tenuto.ports.view import View


class BodyLimits(Value):
    max_body_bytes: int
    max_file_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    engine: Engine
    seen_by: Callable[[Principal], View]
    """The only way to read: as somebody, who may not see everything."""
    check_storage: Callable[[], Awaitable[None]]
    """Raises StorageTrouble if a prompt could not be stored now."""
    nodes: Callable[[], Awaitable[Sequence[NodeStanding]]]
    models: Models
    settings: SettingsKeeper
    providers: ProviderKeeper
    mcp: McpKeeper
    sandbox: Sandboxing
    clock: Clock
    started_at: Instant
    limits: BodyLimits
    metrics: Metrics
