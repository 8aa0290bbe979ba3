"""Signing in to a server: a person visits its page and comes back with a code."""

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)

from tenuto.agent.mcp import message

WAIT_SECONDS = 600.0


class SigningIn:
    """Implements the SDK's `TokenStorage`; what is to be kept is told to the server."""

    def __init__(
        self,
        key: int,
        server: message.Address,
        say: Callable[[message.HostWord], None],
        signed_in: Callable[[], None],
    ) -> None:
        """`signed_in` is told whenever there is something new to show the server."""
        self._signed_in = signed_in
        self._key = key
        self._server = server
        self._say = say
        self._kept = _read(server.login)
        self._back: asyncio.Future[AuthorizationCodeResult] | None = None

    def auth(self) -> OAuthClientProvider:
        provider = OAuthClientProvider(
            self._server.url,
            OAuthClientMetadata.model_validate(
                {"redirect_uris": [self._server.home], "client_name": "Tenuto"}
            ),
            self,
            redirect_handler=self._send_away,
            callback_handler=self._wait,
        )
        # What is kept does not say by itself how old it is; one that is too old is renewed.
        provider.context.token_expiry_time = self._kept.get("until")
        return provider

    def came_back(self, order: message.SignedIn) -> None:
        if self._back is not None and not self._back.done():
            self._back.set_result(
                AuthorizationCodeResult(code=order.code, state=order.state, iss=order.issuer)
            )

    async def get_tokens(self) -> OAuthToken | None:
        kept = self._kept.get("tokens")
        return OAuthToken.model_validate(kept) if kept else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._kept["until"] = time.time() + tokens.expires_in if tokens.expires_in else None
        self._keep("tokens", tokens.model_dump(mode="json", exclude_none=True))
        self._signed_in()

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        kept = self._kept.get("client")
        # One that was registered for another address of ours is sent back there.
        if not kept or self._server.home not in kept.get("redirect_uris", ()):
            return None
        return OAuthClientInformationFull.model_validate(kept)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._keep("client", client_info.model_dump(mode="json", exclude_none=True))

    def _keep(self, name: str, value: Any) -> None:
        self._kept[name] = value
        self._say(message.LoggedIn(key=self._key, login=json.dumps(self._kept)))

    async def _send_away(self, url: str) -> None:
        self._back = asyncio.get_running_loop().create_future()
        state = parse_qs(urlsplit(url).query).get("state", [""])[0]
        self._say(message.NeedsLogin(key=self._key, url=url, state=state))

    async def _wait(self) -> AuthorizationCodeResult:
        assert self._back is not None
        async with asyncio.timeout(WAIT_SECONDS):
            return await self._back


def _read(login: str) -> dict[str, Any]:
    """What was kept; nothing if it makes no sense: somebody signs in again."""
    try:
        kept = json.loads(login or "{}")
    except ValueError:
        return {}
    return kept if isinstance(kept, dict) else {}
