"""A provider that is asked over HTTP, on whichever wire."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from urllib.parse import urljoin

from tenuto.agent.attachments.fitting import Attachments
from tenuto.agent.providers.catalogue.almanac import Seller
from tenuto.agent.providers.catalogue.setting import ProviderConfig
from tenuto.agent.providers.catalogue.survey import Surveyor
from tenuto.agent.providers.concession import Concessions
from tenuto.agent.providers.connection.errors import Border
from tenuto.agent.providers.connection.exchange import Exchange
from tenuto.agent.providers.kinds import KINDS
from tenuto.ports.model import Model, ModelRequest, Notice, Piece, ProviderError

MOST_CONCESSIONS = 8
"""For one request: as many as all that can be left out, and a bound for one who refuses all."""


class HttpProvider:
    """Implements `Provider`. Hosted or local makes no difference."""

    def __init__(self, config: ProviderConfig, seller: Seller | None = None) -> None:
        kind = KINDS[config.kind]
        self.name = config.name
        self.describer = kind.describer(config.name, config.models, seller)
        self._wire = kind.wire(config.base_url)
        self._border = Border(config.name, secret=config.api_key)
        root = self._wire.root(config.base_url)
        headers = {**config.headers, **self._wire.headers(config.api_key)}
        self._exchange, server = (
            Exchange(url, headers=headers, limits=config.limits, border=self._border)
            for url in (root, urljoin(root, "/"))
        )
        self._attachments = Attachments()
        self._concessions = Concessions(self._wire.least)
        self._surveyor = Surveyor(server)
        self._server = server
        self._known: dict[str, Model] = {}

    async def models(self) -> Sequence[Model]:
        listing = await self._exchange.get(self._wire.listing)
        models = self.describer.offered(await self._surveyor.models(listing))
        self._known = {model.name: model for model in models}
        return models

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Piece], None]:
        model = self._known.get(request.model) or self.describer.model(request.model)
        request = await self._attachments.fit(request, model, self._wire.limits)
        notices: list[Piece] = []
        given = False
        while True:
            asked = self._concessions.request(request)
            body = self._wire.body(asked, model)
            self._concessions.mend(request.model, body)
            answer = self._wire.answer(self._border, model)
            try:
                async with aclosing(self._exchange.stream(self._wire.asking, body, answer)) as said:
                    async for pieces in said:
                        # What was left out is said once that has helped.
                        yield pieces if given else [*notices, *pieces]
                        given = True
                return
            except ProviderError as error:
                if given or len(notices) == MOST_CONCESSIONS:
                    raise
                learnt = self._concessions.learn(error, asked, body)
                if not learnt:
                    raise
                notices.append(Notice(text=learnt))

    async def close(self) -> None:
        await self._exchange.close()
        await self._server.close()
