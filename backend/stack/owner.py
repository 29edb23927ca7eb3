"""A session with every right on a local server. Apart from `fleet`, which is also read where there is no driver."""

from pathlib import Path

import pymysql
from pymysql.cursors import Cursor

from stack.fleet import Instance


def as_owner(instance: Instance) -> "pymysql.Connection[Cursor]":
    """A local server lets in who owns its process, through its socket."""
    socket = str(Path(instance.folder) / "server.sock")
    return pymysql.connect(unix_socket=socket, user=instance.owner, password=instance.owner_password, autocommit=True)
