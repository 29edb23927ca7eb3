"""A Valkey or Redis broker: kombu's transport, which outlives the end of its broker.

When its broker is gone, kombu gives a connection up, and afterwards still wants to tell it what a worker has
acknowledged or not: it trips over what is no longer there, and the worker ends. There is nobody to tell: the rows in
the database, from which work is found again, are not lost, and what is delivered twice is done once.
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
        except Exception as error:  # whatever it trips over, the worker works on
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
