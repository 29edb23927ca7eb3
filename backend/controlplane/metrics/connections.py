"""Open connections to polled servers, kept between rounds: connecting costs ten times as much as asking.

One set per process. A connection is opened again when the instance's address or account changed, and thrown away
after any failure.
"""

from __future__ import annotations

from collections.abc import Collection

from controlplane.fleet.connection import address_of
from controlplane.fleet.models import Instance
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.server import Limits, Server, open_server

Key = tuple[str, int, str, str, bool, str]


class Connections:
    """Safe for threads as long as no two work on one instance at a time."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[Key, Server]] = {}

    def _get(self, instance: Instance, limits: Limits) -> Server:
        key, (kept_key, server) = _key(instance), self._open.get(instance.pk, (None, None))
        if server is not None and key == kept_key:
            return server
        self.drop(instance.pk)
        server = open_server(address_of(instance), limits)
        self._open[instance.pk] = (key, server)
        return server

    def ask(self, instance: Instance, limits: Limits, statements: list[str]) -> list[dict[str, str]]:
        """The name-value rows of each statement. A connection that the server closed meanwhile is opened once more."""
        was_kept = instance.pk in self._open
        try:
            return self._ask(instance, limits, statements)
        except GatewayError as error:
            if error.is_permanent or not was_kept:
                raise
        return self._ask(instance, limits, statements)

    def _ask(self, instance: Instance, limits: Limits, statements: list[str]) -> list[dict[str, str]]:
        try:
            server = self._get(instance, limits)
            return [dict(server.rows(statement)) for statement in statements]
        except GatewayError:
            self.drop(instance.pk)
            raise

    def drop(self, instance_id: str) -> None:
        _, server = self._open.pop(instance_id, (None, None))
        if server is not None:
            server.close()

    def keep_only(self, instance_ids: Collection[str]) -> None:
        for instance_id in set(self._open) - set(instance_ids):
            self.drop(instance_id)

    def __len__(self) -> int:
        return len(self._open)


def _key(instance: Instance) -> Key:
    return (
        instance.host,
        instance.port,
        instance.username,
        instance.password_sealed,
        instance.is_tls_required,
        instance.tls_ca,
    )
