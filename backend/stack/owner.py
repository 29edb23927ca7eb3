"""A connection with all privileges to a local server.

Separate from `fleet`, which must also work without the MySQL driver.
"""

from pathlib import Path

import pymysql
from pymysql.cursors import Cursor

from stack.fleet import Instance


def as_owner(instance: Instance) -> "pymysql.Connection[Cursor]":
    """Connects with all privileges through the server's socket. A local server lets in the owner of its process. The
    caller closes it."""
    socket = str(Path(instance.folder) / "server.sock")
    return pymysql.connect(unix_socket=socket, user=instance.owner, password=instance.owner_password, autocommit=True)
