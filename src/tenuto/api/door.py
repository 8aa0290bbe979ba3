"""The door: what the server goes by when it decides who may come in."""

import hashlib
import hmac
import re
from enum import Enum
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from tenuto.core.host import address, is_loopback
from tenuto.core.value import Value

HOST = re.compile(r"(?:\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::[0-9]{1,5})?")
"""What a browser sends: a name or an address, perhaps a port, and nothing else."""


class Shown(Enum):
    """By what a caller is known."""

    TOKEN = "token"
    COOKIE = "cookie"


class Door(Value):
    token: str
    host: str
    port: int
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    one_of_many: bool = False
    """Whether other nodes, on whatever ports, answer the same browser."""

    @property
    def cookie_name(self) -> str:
        """Its own for each port, as servers on one host share their cookies; the same on all
        nodes that share a token."""
        if self.one_of_many:
            mark = hmac.new(self.token.encode(), b"cookie name", hashlib.sha256).hexdigest()
            return f"tenuto_{mark[:8]}"
        return f"tenuto_{self.port}"

    def cookie(self) -> str:
        """What a browser shows instead of the token, so that the token is not kept there."""
        return hmac.new(self.token.encode(), b"login cookie", hashlib.sha256).hexdigest()

    def knows_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())

    def knows(self, headers: Headers) -> Shown | None:
        """By what this caller is known; None: not at all."""
        given = bearer(headers)
        if given is not None and self.knows_token(given):
            return Shown.TOKEN
        ours = self.cookie().encode()
        cookies = _values(headers, self.cookie_name)
        if any(hmac.compare_digest(cookie.encode(), ours) for cookie in cookies):
            return Shown.COOKIE
        return None

    def knows_host(self, given: str) -> bool:
        """Names are refused unless known: a foreign name may have been made to point at us."""
        match = HOST.fullmatch(given.lower())
        if match is None:
            return False
        host = match["v6"] or match["name"].rstrip(".")
        if host == "localhost" or host in {name.lower() for name in self.allowed_hosts}:
            return True
        found = address(host)
        if found is None:
            return host == self.host.lower()
        return found.is_loopback or not is_loopback(self.host)

    def knows_origin(self, origin: str, host: str) -> bool:
        parts = urlsplit(origin)
        same = parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()
        return same or origin in self.allowed_origins


def bearer(headers: Headers) -> str | None:
    """The token that is shown, right or wrong; None: there is none."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    return given.strip() or None if scheme.lower() == "bearer" else None


def _values(headers: Headers, name: str) -> list[str]:
    """All cookies of this name. By hand: an odd one of another server must not hide ours."""
    pairs = [pair.partition("=") for one in headers.getlist("cookie") for pair in one.split(";")]
    return [value.strip() for key, _, value in pairs if key.strip() == name]
