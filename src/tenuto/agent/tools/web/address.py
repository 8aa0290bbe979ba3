"""Which addresses are out in the open, and sockets for no others."""

import errno
import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any

NAT64 = IPv6Network("64:ff9b::/96")
REFUSED = (IPv6Network("::/96"), IPv6Network("64:ff9b:1::/48"))
"""IPv4 inside IPv6 in ways that nothing public uses."""

AddressInfo = tuple[Any, Any, int, str, tuple[Any, ...]]


class NotPublic(OSError):
    """The address is one that only this machine or its network can reach."""


def public_socket(info: AddressInfo) -> socket.socket:
    """A socket for exactly this address, if it is public.

    It is asked with the address that will be connected to, after every lookup: a name that
    answers differently the second time gains nothing, nor does an address written oddly.
    """
    family, kind, protocol, _, address = info
    if not is_public(str(address[0])):
        raise NotPublic(errno.EACCES, "not a public address")
    return socket.socket(family, kind, protocol)


def is_public(text: str) -> bool:
    """False for private, loopback, link-local, multicast, reserved and unspecified addresses,
    also if they are carried inside another."""
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv4Address):
        return _is_open(address)
    if any(address in network for network in REFUSED):
        return False
    return _is_open(_carried(address) or address)


def _carried(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that this one leads to; None if it leads to none."""
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None)


def _is_open(address: IPv4Address | IPv6Address) -> bool:
    site_local = isinstance(address, IPv6Address) and address.is_site_local
    odd = address.is_multicast or address.is_unspecified or address.is_reserved
    return address.is_global and not (odd or address.is_link_local or site_local)
