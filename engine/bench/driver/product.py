"""What is different in a server of MariaDB's and one of MySQL's, for those who measure them."""

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
    # Statements of the server's owner that load the plugin.
    installing: tuple[str, ...]
    # Of the session that asks: the number of its thread in the kernel.
    thread: str
    # Statements that hardly anybody sends, and the functions for them alone: between these the server counts.
    begin: str
    begins: str
    end: str
    ends: str
    # What the first word of its mask of events holds while none of statements are made.
    silent: int

    @property
    def image(self) -> str:
        """The file that the kernel runs: a server that was fetched is started by a command."""
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
    # A bit for each class; connections are told of.
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
    # A word for each class, statements in general first.
    silent=0,
)
PRODUCTS = {product.name: product for product in (MARIADB, MYSQL)}
