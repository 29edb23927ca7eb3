"""Differences between servers of MariaDB and of MySQL that matter to measurements."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

FETCHED = Path(__file__).resolve().parents[2] / "target" / "servers" / "MySQL-9.7"


@dataclass(frozen=True)
class Product:
    name: str
    program: str
    settings: tuple[str, ...]
    # Statements, for an administrator, that load the plugin, in their order.
    installing: tuple[str, ...]
    # A statement that returns the kernel's number of the thread that serves the session.
    thread: str
    # Two rare statements, and the functions that only they run. Instructions are counted from one function to the
    # other.
    begin: str
    begins: str
    end: str
    ends: str
    # The first word of the server's mask of audit events while it reports no events of statements to plugins.
    silent: int

    @property
    def image(self) -> str:
        """Returns the path of the server's executable file. `program` may be a command that starts it, if the server
        was fetched."""
        fetched = Path(self.program).parent.parent / "root" / "usr" / "sbin" / Path(self.program).name
        return str((fetched if fetched.exists() else Path(self.program)).resolve())


MARIADB = Product(
    name="MariaDB",
    program=os.environ.get("FQC_MARIADBD", "/usr/sbin/mariadbd"),
    settings=("--innodb-log-file-size=512M",),
    installing=("INSTALL SONAME 'fqc'",),
    thread="SELECT TID FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID()",
    begin="SHOW PRIVILEGES",
    begins="mysqld_show_privileges(*",
    end="SHOW CONTRIBUTORS",
    ends="mysqld_show_contributors(*",
    # The word has a bit for each class of events; that of connections stays set.
    silent=1 << 1,
)
MYSQL = Product(
    name="MySQL",
    program=os.environ.get("FQC_MYSQLD", str(FETCHED / "sbin" / "mysqld")),
    settings=("--innodb-redo-log-capacity=1G", "--mysqlx=OFF", "--secure-file-priv=NULL"),
    installing=tuple(f"INSTALL PLUGIN {name} SONAME 'fqc.so'" for name in ("fqc", "fqc_events", "query")),
    thread="SELECT THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()",
    begin="SHOW PRIVILEGES",
    begins="Sql_cmd_show_privileges::execute_inner(*",
    end="SHOW PROFILES",
    ends="Sql_cmd_show_profiles::execute_inner(*",
    # The mask has a word for each class of events; statements in general come first.
    silent=0,
)
PRODUCTS = {product.name: product for product in (MARIADB, MYSQL)}
