"""The embedded broker: kombu's transport of files, made safe for readers that come in the middle of a write.

Invariant: whatever has a name that readers look for is complete. kombu makes the file first and fills it then; a worker
that looks every 20 ms meets an empty one sooner or later, and ends.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.encoding import str_to_bytes
from kombu.utils.json import dumps


class Channel(filesystem.Channel):
    """Messages and bindings appear under their names by one rename each."""

    def _put(self, queue: str, payload: dict[str, Any], **kwargs: Any) -> None:
        folder = Path(self.data_folder_out)
        try:
            descriptor, draft = tempfile.mkstemp(prefix=".", suffix=".draft", dir=folder)
            with os.fdopen(descriptor, "wb") as file:
                file.write(str_to_bytes(dumps(payload)))
            # Readers take messages in the order of their names.
            Path(draft).rename(folder / f"{time.monotonic_ns():020}_{uuid.uuid4()}.{queue}.msg")
        except OSError as error:
            raise ChannelError(f"cannot add a message to {folder}: {error}") from error

    def get_table(self, exchange: str) -> list[Any]:
        with self._bindings_locked():
            return super().get_table(exchange)

    def _queue_bind(self, *binding: Any) -> None:
        with self._bindings_locked():
            super()._queue_bind(*binding)

    def _delete(self, *binding: Any, **kwargs: Any) -> None:
        with self._bindings_locked():
            super()._delete(*binding, **kwargs)

    @contextmanager
    def _bindings_locked(self) -> Iterator[None]:
        """kombu locks a file of bindings after it made it; this lock is there before."""
        self.control_folder.mkdir(exist_ok=True)
        with (self.control_folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


class Transport(filesystem.Transport):
    Channel = Channel
