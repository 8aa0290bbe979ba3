"""A server that is reached by HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client

from tenuto.agent.mcp import message
from tenuto.agent.mcp.host.signing_in import SigningIn

CONNECT_SECONDS = 30.0
READ_SECONDS = 3600.0
"""A call may be silent for as long as it takes; whoever asked has a limit of their own."""


@asynccontextmanager
async def reaching(server: message.Address, login: SigningIn | None) -> AsyncIterator[Any]:
    by_hand = any(name.lower() == "authorization" for name in server.headers)
    client = httpx2.AsyncClient(
        headers=server.headers,
        timeout=httpx2.Timeout(CONNECT_SECONDS, read=READ_SECONDS),
        auth=None if by_hand or login is None else login.auth(),
    )
    transport = streamable_http_client(
        server.url,
        http_client=client,
        # A server that no longer answers would be waited for at the end, too.
        terminate_on_close=False,
        max_sse_event_size=message.LONGEST_LINE,
    )
    async with client, transport as streams:
        yield streams
