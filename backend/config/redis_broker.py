"""A Valkey or Redis broker: kombu's transport, made to survive the end of its broker.

When the broker is gone, kombu closes the connection and afterwards still tries to acknowledge a worker's messages. This
raises an error that would end the worker. The error is ignored: the rows in the database, from which work is found
again, are not lost, and work that is delivered twice is done once.
"""

from __future__ import annotations

from typing import Any

import structlog
from kombu.transport import redis

log = structlog.get_logger(__name__)


class QoS(redis.QoS):
    def ack(self, delivery_tag: str) -> None:
        if not self._is_given_up():
            super().ack(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        if not self._is_given_up():
            super().reject(delivery_tag, requeue)

    def restore_unacked_once(self, stderr: Any = None) -> None:
        try:
            super().restore_unacked_once(stderr)
        except Exception as error:  # whatever the error is, the worker continues
            log.warning("broker.not_given_back", messages=len(self._delivered), error=str(error))

    def _is_given_up(self) -> bool:
        is_given_up = self.channel.connection is None
        if is_given_up:
            log.warning("broker.not_acknowledged")
        return is_given_up


class Channel(redis.Channel):
    QoS = QoS


class Transport(redis.Transport):
    Channel = Channel
