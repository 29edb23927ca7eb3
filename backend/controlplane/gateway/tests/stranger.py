"""A listener that is not a MySQL server, where one is expected."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

GREETINGS = [b"HTTP/1.1 200 OK\r\n\r\n", b"SSH-2.0-OpenSSH_9.2\r\n", b"\x04\x00\x00\x00\x0a5.7", b"\x00" * 64]


@contextmanager
def stranger(greeting: bytes) -> Iterator[int]:
    """Yields the port of a listener that is no MySQL server.

    The first client to connect, which must come before the block ends, gets this greeting.
    """
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_greet, args=(listener, greeting))
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


def _greet(listener: socket.socket, greeting: bytes) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.sendall(greeting)
