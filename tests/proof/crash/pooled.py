"""The plain API on connections that are used again: the checker asks hundreds of things."""

from typing import Any

import aiohttp

from tests.support.raw import RawAnswer, RawApi, answer_of


class PooledApi(RawApi):
    def __init__(self, url: str, token: str, http: aiohttp.ClientSession) -> None:
        """`http` says who it is by itself."""
        super().__init__(url, token)
        self._http = http

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: dict[str, str] | None = None,
    ) -> RawAnswer:
        async with self._http.request(
            method, self.url + path, json=body, headers=headers
        ) as response:
            return await answer_of(response)
