"""Checks whether an address is on the public internet: globally reachable unicast, by IANA's registries. Pure.

The blocks are listed here instead of using `ipaddress`, whose results differ between versions of Python and which
counts addresses as public that routers or this machine translate to others.
"""

from __future__ import annotations

import ipaddress

# IANA's special-purpose registry of IPv4, and multicast, without blocks that are reachable from everywhere.
NOT_PUBLIC_V4 = tuple(
    map(
        ipaddress.IPv4Network,
        (
            "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
            "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
            "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        ),
    )
)  # fmt: skip
# IANA assigns global unicast addresses of IPv6 only in this block. Exceptions in it: protocol assignments with Teredo,
# documentation, 6to4. All else is local, multicast, reserved, or stands for an IPv4 address.
GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")
NOT_PUBLIC_V6 = tuple(map(ipaddress.IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))


def is_public(address: str) -> bool:
    plain = ipaddress.ip_address(address.split("%")[0])
    if isinstance(plain, ipaddress.IPv6Address):
        if plain.ipv4_mapped is None:
            return plain in GLOBAL_V6 and not any(plain in network for network in NOT_PUBLIC_V6)
        plain = plain.ipv4_mapped
    return not any(plain in network for network in NOT_PUBLIC_V4)
