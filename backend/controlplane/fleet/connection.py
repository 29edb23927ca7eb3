"""Connects to an instance through the gateway, within the networks that an administrator allows."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from django.conf import settings as process_settings

from controlplane.core.connections import connection_give_back
from controlplane.core.sealing import CannotOpen
from controlplane.fleet.local import accounts_ensure, public_key_of
from controlplane.fleet.models import Instance
from controlplane.fleet.states import Provider
from controlplane.gateway.errors import PasswordNotOpened
from controlplane.gateway.local_accounts import Use, account
from controlplane.gateway.server import Limits, Server, open_server
from controlplane.settings.selectors import settings_get

# A conversation may take as long as this many statements at their time limit; most have only a few statements.
CONVERSATION_STATEMENTS = 4


@dataclass(frozen=True)
class Address:
    """The address and account that the gateway needs to connect to an instance's server. The password is decrypted."""

    host: str
    port: int
    username: str
    password: str = field(repr=False)
    is_tls_required: bool = False
    tls_ca: str = ""
    public_key: str = ""


def address_of(instance: Instance, use: Use = Use.WATCH) -> Address:
    try:
        username, password = instance.username, instance.password
        if use is Use.TRIAL and instance.trial_username:
            username, password = instance.trial_username, instance.trial_password
    except CannotOpen as error:
        raise PasswordNotOpened(error.detail) from error
    if use is not Use.WATCH and instance.provider == Provider.LOCAL:
        username, password = account(use, username, password)
    place = (instance.host, instance.port, username, password, instance.is_tls_required, instance.tls_ca)
    return Address(*place, public_key_of(instance))


def opened(instance: Instance, use: Use = Use.WATCH, *, is_counted: bool = False, seconds: float = math.inf) -> Server:
    """Opens a connection to the instance's server with the account for `use`; the caller must close it.

    The query cache counts its reads only if `is_counted`. After `seconds`, including the time to connect, the
    conversation fails wherever it is. Raises GatewayError.
    """
    address = address_of(instance, use)
    accounts_ensure(instance)
    within = limits()
    connection_give_back()
    until = time.monotonic() + seconds
    server = open_server(address, replace(within, connect_seconds=min(within.connect_seconds, seconds)))
    server.until = until
    if not is_counted:
        server.stay_uncounted()
    return server


def limits() -> Limits:
    return Limits(
        networks=tuple(settings_get().endpoint_networks),
        connect_seconds=process_settings.CONNECT_TIMEOUT_SECONDS,
        statement_seconds=process_settings.STATEMENT_TIMEOUT_SECONDS,
    )


@contextmanager
def connected(
    instance: Instance, use: Use = Use.WATCH, *, is_counted: bool = False, seconds: float | None = None
) -> Iterator[Server]:
    if seconds is None:
        seconds = process_settings.CONNECT_TIMEOUT_SECONDS
        seconds += CONVERSATION_STATEMENTS * process_settings.STATEMENT_TIMEOUT_SECONDS
    server = opened(instance, use, is_counted=is_counted, seconds=seconds)
    try:
        yield server
    finally:
        server.close()
