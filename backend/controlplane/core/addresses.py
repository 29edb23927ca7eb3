"""Addresses of callers, as limits count them. Pure."""

from __future__ import annotations

import ipaddress

HOST_BITS = 64  # of an IPv6 address: a host may use all addresses that share the other bits


def counted_as(address: str) -> str:
    """Returns what limits count a caller's address as: the /64 network of an IPv6 address, since its host can choose
    any address in it; any other address unchanged.
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if not isinstance(found, ipaddress.IPv6Address):
        return address
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((int(found), 128 - HOST_BITS), strict=False))
