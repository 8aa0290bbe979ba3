"""Hosts: who can reach an address."""

import ipaddress

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def address(host: str) -> Address | None:
    """The address that this text is; None: it is a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    found = address(host)
    return host == "localhost" if found is None else found.is_loopback
