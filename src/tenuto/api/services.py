"""What the routes can reach."""

from dataclasses import dataclass

from tenuto.api.metrics import Metrics
from tenuto.core.value import Instant, Value
from tenuto.engine.engine import Engine
from tenuto.engine.providers import ProviderKeeper
from tenuto.engine.settings import SettingsKeeper
from tenuto.ports.clock import Clock, Ids
from tenuto.ports.model import Models
from tenuto.ports.store import Store


class BodyLimits(Value):
    max_body_bytes: int
    max_file_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    engine: Engine
    store: Store
    models: Models
    settings: SettingsKeeper
    providers: ProviderKeeper
    clock: Clock
    ids: Ids
    started_at: Instant
    limits: BodyLimits
    metrics: Metrics
