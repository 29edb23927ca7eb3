"""A session with all privileges on a local server.

Separate from `fleet`, which must also work without the MySQL driver.
"""

from pathlib import Path

import pymysql
from pymysql.cursors import Cursor

from stack.fleet import Instance


def as_owner(instance: Instance) -> "pymysql.Connection[Cursor]":
    """Connects through the socket. A local server lets in the owner of its process."""
    socket = str(Path(instance.folder) / "server.sock")
    return pymysql.connect(unix_socket=socket, user=instance.owner, password=instance.owner_password, autocommit=True)
