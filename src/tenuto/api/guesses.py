"""Guesses: wrong tokens, counted by where they come from."""

import ipaddress
import time
from collections import OrderedDict

from starlette.types import Scope

from tenuto.core.host import address

MINUTE_SECONDS = 60
MOST_PLACES = 10_000
"""How many places are remembered; the one that was longest silent is forgotten first."""
OWN_BITS = 64
"""Of an IPv6 address: one machine has all that can follow them."""


class Guesses:
    """One who guesses must wait a minute. Nobody else does, and whoever is right never does."""

    def __init__(self, *, most_per_minute: int) -> None:
        self._most = most_per_minute
        self._places: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def wrong(self, scope: Scope) -> bool:
        """Count one more of this caller; whether that is too many."""
        place, now = _place(scope), time.monotonic()
        since, count = self._places.pop(place, (now, 0))
        if now - since >= MINUTE_SECONDS:
            since, count = now, 0
        # Those beyond the limit are not counted, or a minute would never be over.
        self._places[place] = (since, min(count + 1, self._most + 1))
        if len(self._places) > MOST_PLACES:
            self._places.popitem(last=False)
        return count >= self._most


def _place(scope: Scope) -> str:
    host: str = (scope.get("client") or ("", 0))[0]
    found = address(host)
    if not isinstance(found, ipaddress.IPv6Address):
        return host
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, OWN_BITS), strict=False))
