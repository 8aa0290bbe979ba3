"""A provider that is asked over HTTP, on whichever wire."""

from collections.abc import AsyncGenerator, Sequence

from tenuto.agent.providers.catalogue.setting import ProviderConfig
from tenuto.agent.providers.connection.errors import Border
from tenuto.agent.providers.connection.exchange import Exchange
from tenuto.agent.providers.kinds import KINDS
from tenuto.ports.model import Model, ModelRequest, Piece


class HttpProvider:
    """Implements `Provider`. Hosted or local makes no difference."""

    def __init__(self, config: ProviderConfig) -> None:
        kind = KINDS[config.kind]
        self.name = config.name
        self.describer = kind.describer(config.name, config.models)
        self._wire = kind.wire(config.base_url)
        self._border = Border(config.name, secret=config.api_key)
        self._exchange = Exchange(
            self._wire.root(config.base_url),
            headers=self._wire.headers(config.api_key),
            limits=config.limits,
            border=self._border,
        )
        self._known: dict[str, Model] = {}

    async def models(self) -> Sequence[Model]:
        models = self.describer.listed(await self._exchange.get(self._wire.listing))
        self._known = {model.name: model for model in models}
        return models

    def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Piece], None]:
        model = self._known.get(request.model) or self.describer.model(request.model)
        body = self._wire.body(request, model)
        return self._exchange.stream(
            self._wire.asking, body, self._wire.answer(self._border, model)
        )

    async def close(self) -> None:
        await self._exchange.close()
