"""The embedded broker: kombu's transport of files, made safe for many processes and for their sudden end.

Invariants: a file with a name that readers look for is complete, since it gets that name by a rename; a message is
taken by a rename too, so only one reader gets it. kombu itself writes to files that readers may already see, moves
messages to a folder that may be on another disk, and rewrites bindings in place.

Deliberately absent: fsync. A power cut may lose messages, but not the rows in the database, from which the work is
found again.
"""

from __future__ import annotations

import fcntl
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty
from typing import Any

import structlog
from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.json import dumps, loads

log = structlog.get_logger(__name__)

Bindings = list[filesystem.exchange_queue_t]


class Channel(filesystem.Channel):
    def _put(self, queue: str, payload: dict[str, Any], **kwargs: Any) -> None:
        # Readers take messages in the order of their names.
        name = f"{time.monotonic_ns():020}_{uuid.uuid4()}.{queue}.msg"
        _appear(Path(self.data_folder_out) / name, payload)

    def _get(self, queue: str) -> Any:
        for path in sorted(Path(self.data_folder_in).iterdir()):
            if path.name.partition(".")[2] == f"{queue}.msg" and (content := _take(path)) is not None:
                try:
                    return loads(content)
                except ValueError:
                    log.warning("broker.message_damaged", file=path.name)
        raise Empty

    def get_table(self, exchange: str) -> Bindings:
        try:
            return list(super().get_table(exchange))
        except ValueError:
            # Workers declare their bindings again when they start.
            log.warning("broker.bindings_damaged", exchange=exchange)
            return []

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        own = _binding(routing_key, pattern, queue)
        self._rebind(exchange, lambda known: known if own in known else [own, *known])

    def _delete(self, queue: str, exchange: str, routing_key: str, pattern: str, *args: Any, **kwargs: Any) -> None:
        self._purge(queue)
        own = _binding(routing_key, pattern, queue)
        self._rebind(exchange, lambda known: [one for one in known if one != own])

    def _rebind(self, exchange: str, changed: Callable[[Bindings], Bindings]) -> None:
        with self._bindings_locked():
            before = self.get_table(exchange)
            if (after := changed(before)) != before:
                _appear(self._exchange_file(exchange), after)

    @contextmanager
    def _bindings_locked(self) -> Iterator[None]:
        """Waits for the lock on the broker's bindings and holds it for the block, which changes them.

        Readers need no lock: they see the old file or the new one.
        """
        self.control_folder.mkdir(exist_ok=True)
        with (self.control_folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


class Transport(filesystem.Transport):
    Channel = Channel


def _binding(routing_key: str, pattern: str, queue: str) -> filesystem.exchange_queue_t:
    return filesystem.exchange_queue_t(routing_key or "", pattern or "", queue or "")


def _appear(path: Path, content: object) -> None:
    """Writes a file atomically: its name shows the old content, if any, or all of the new one.

    Raises ChannelError and keeps the old one if that fails.
    """
    draft = path.with_name(f".{uuid.uuid4()}.draft")
    text = dumps(content)
    try:
        draft.write_text(text)
        draft.rename(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise ChannelError(f"cannot write {path}: {error}") from error


def _take(path: Path) -> bytes | None:
    """Takes a message out of the folder.

    Returns its content to the process that renames the file first, None to all others.
    """
    taken = path.with_name(f".{path.name}.taken")
    try:
        path.rename(taken)
    except FileNotFoundError:
        return None
    content = taken.read_bytes()
    taken.unlink()
    return content
