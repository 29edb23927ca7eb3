"""The addresses that may be connected to.

A name is resolved here, each of its addresses is checked against the operator's networks, and the connection goes to a
checked address: if the name resolves differently a moment later, that has no effect. The check is repeated for every
connection.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from controlplane.gateway.errors import RefusedEndpoint, Unreachable
from controlplane.gateway.look_up import look_up

HOST_SYNTAX = r"\A[A-Za-z0-9]([A-Za-z0-9._:-]{0,251}[A-Za-z0-9])?\Z|\A::1?\Z"  # a host name or an address


def resolve(host: str, seconds: float) -> list[str]:
    try:
        return look_up(host, seconds)
    except OSError as error:
        raise Unreachable(f"{host}: the name does not resolve ({error}). Check the spelling and the DNS.") from error


def is_allowed(address: str, networks: Iterable[str]) -> bool:
    plain = ipaddress.ip_address(address.split("%")[0])
    mapped = getattr(plain, "ipv4_mapped", None) or plain
    return any(mapped in ipaddress.ip_network(network) for network in networks)


def checked_addresses(host: str, networks: Iterable[str], seconds: float) -> list[str]:
    """Resolves a host name and returns all its addresses, which are allowed to be connected to.

    Raises RefusedEndpoint if one of them is outside `networks` (such as 10.0.0.0/8), and Unreachable if the name does
    not resolve within `seconds`.
    """
    allowed = list(networks)
    addresses = resolve(host, seconds)
    for address in addresses:
        if not is_allowed(address, allowed):
            place = host if host == address else f"{host} is {address}, which"
            raise RefusedEndpoint(
                f"{place} is outside the allowed networks {', '.join(allowed) or '(none)'}: "
                "an administrator can add its network in the settings."
            )
    return addresses
