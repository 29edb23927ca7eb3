"""A conversation with one MySQL-compatible server over PyMySQL.

Values are passed as parameters. Variable names are matched against a strict pattern and quoted, and callers take them
from the catalogue. There is a time limit for opening a connection, for each statement and for the whole conversation,
also if a server sends its answers byte by byte, and a limit on the length of an answer. Errors are GatewayErrors, which
say whether they are permanent.
"""

from __future__ import annotations

import math
import re
import socket
import ssl
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import pymysql
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from pymysql.constants import CR, ER

from controlplane.gateway.bounded import BoundedConnection, NotUnderstood, TooMuch, Withheld
from controlplane.gateway.dial import dial
from controlplane.gateway.endpoint import checked_addresses
from controlplane.gateway.errors import (
    AccessDenied,
    AnswerTooLong,
    GatewayError,
    NotAServer,
    NoTls,
    PasswordWithheld,
    PrivilegeMissing,
    RefusedStatement,
    Unreachable,
)
from controlplane.gateway.name_values import Values
from controlplane.gateway.names import ENGINE_NAMES
from controlplane.gateway.product import LACKS_PRIVILEGE_ERRORS, PRODUCTS

IDENTIFIER = re.compile(r"[a-z][a-z0-9_]{0,63}(\.[a-z][a-z0-9_]{0,63})?")
CONNECTION_LOST = {CR.CR_SERVER_GONE_ERROR, CR.CR_SERVER_LOST, CR.CR_CONN_HOST_ERROR, CR.CR_CONNECTION_ERROR}
# Error numbers of all products, since an error may arrive before the server's product is known. No number has two
# meanings.
SHUTTING_DOWN = {ER.SERVER_SHUTDOWN, ER.CON_COUNT_ERROR}.union(*(product.killed_errors for product in PRODUCTS))
# A server may list several privileges, and each of them is enough. The last one listed is the narrowest.
PRIVILEGES = re.compile(r"\(at least one of\) the (.+?) privilege")
SHOWN = 500  # characters of a server's message that are shown
CONNECT_BYTES = 64 * 1024
ANSWER_BYTES = 32 * 1024**2  # held in memory; all variables of a server take about 1 MiB
SKIPPED_BYTES = 64 * 1024**2
NO_PASSWORD_DENIED = 1698  # MariaDB 11.8 sends this for an account that does not exist
DENIED = {ER.ACCESS_DENIED_ERROR, ER.DBACCESS_DENIED_ERROR, ER.HOST_NOT_PRIVILEGED, ER.MUST_CHANGE_PASSWORD}
DENIED |= {NO_PASSWORD_DENIED}


class Endpoint(Protocol):
    """The address and account of a server, and how it is verified: all that a connection needs."""

    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int: ...
    @property
    def username(self) -> str: ...
    @property
    def is_tls_required(self) -> bool: ...
    @property
    def tls_ca(self) -> str: ...
    @property
    def public_key(self) -> str: ...
    @property
    def password(self) -> str: ...


@dataclass(frozen=True)
class Limits:
    networks: tuple[str, ...]
    connect_seconds: float = 5
    statement_seconds: int = 30
    answer_bytes: int = ANSWER_BYTES


LONGEST_ACCOUNT = 128 + 1 + 255  # MariaDB's longest name and host, in letters


def printable(said: str) -> str:
    """Returns the server's text with unprintable characters, such as NUL, replaced: databases and terminals reject
    them.
    """
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in said)


def translate(error: Exception, place: str) -> GatewayError:
    code, said = (error.args[0], str(error.args[-1])) if error.args else (0, str(error))
    said = printable(said[:SHOWN])
    if isinstance(error, Withheld):
        return PasswordWithheld(f"{place}: {said}")
    if isinstance(error, TooMuch):
        return AnswerTooLong(f"{place}: the server {said}. The connection was closed.")
    if code in DENIED:
        return AccessDenied(
            f"{place}: the server denied the account ({said}). Check its name, password and grants.", code
        )
    if code == CR.CR_SSL_CONNECTION_ERROR or _is_of_tls(error):
        return NoTls(f"{place}: {said}. {_remedy_of_tls(error)}")
    if code in CONNECTION_LOST | SHUTTING_DOWN or isinstance(error, OSError | pymysql.InterfaceError):
        number = code if code in SHUTTING_DOWN else 0
        return Unreachable(f"{place}: {said}. Is the server running and reachable from here?", number)
    if isinstance(error, pymysql.MySQLError) and isinstance(code, int) and not isinstance(error, NotUnderstood):
        if code in LACKS_PRIVILEGE_ERRORS:
            return _privilege_missing(place, said, code)
        return RefusedStatement(f"{place}: the server answered {code}: {said}.", code)
    # The answer itself must not be shown: it may come from any service on the network.
    return NotAServer(f"{place}: the program at this address does not speak the MySQL protocol. Check host and port.")


def _is_of_tls(error: Exception) -> bool:
    """Returns true if the error is about certificates or the TLS handshake, not if the connection just ended."""
    cause = getattr(error, "original_exception", error)
    return isinstance(cause, ssl.SSLError) and not isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError)


def _remedy_of_tls(error: Exception) -> str:
    if not _is_of_tls(error):
        return "Switch TLS on in the server, or do not require it for this instance."
    if isinstance(getattr(error, "original_exception", error), ssl.SSLCertVerificationError):
        return "Check the server's certificate, and the certificate of its authority that is given for this instance."
    return "Check which versions of TLS the server accepts."


def _privilege_missing(place: str, said: str, code: int) -> PrivilegeMissing:
    error = PrivilegeMissing(
        f"{place}: the account lacks a privilege ({code}: {said}). Grant it, then try again.", code
    )
    if named := PRIVILEGES.search(said):
        error.privilege = re.split(", | or ", named[1])[-1]
    return error


def quoted(name: str) -> str:
    """Returns a variable's name in backticks, for use in a statement.

    Raises RefusedStatement for anything but a plain name, which is a mistake of the caller.
    """
    if not IDENTIFIER.fullmatch(name):
        raise RefusedStatement(f"{name!r} is not a variable's name.")
    return ".".join(f"`{part}`" for part in name.split("."))


class Server:
    """One open connection to a server.

    Statements block, and fail with a GatewayError. `until` is the time on the monotonic clock at which the conversation
    must end: a statement that takes longer fails.
    """

    until = math.inf

    def __init__(self, connection: BoundedConnection, place: str, limits: Limits) -> None:
        self.connection = connection
        self.place = place
        self.statement_seconds: float = limits.statement_seconds
        self.answer_bytes = limits.answer_bytes

    def rows(self, statement: str, arguments: Iterable[Any] | None = None) -> list[tuple[Any, ...]]:
        with self._asking() as cursor:
            cursor.execute(statement, None if arguments is None else tuple(arguments))
            return list(cursor.fetchall())

    def name_values(self, statement: str, arguments: Iterable[Any] | None = None) -> Values:
        """Runs a statement whose rows are names and values, such as SHOW VARIABLES, and returns the values by name, as
        text.

        Rows whose value is NULL are left out. Raises NotAServer if the rows have other than two columns.
        """
        rows = self.rows(statement, arguments)
        if any(len(row) != len(("name", "value")) for row in rows):
            raise NotAServer(f"{self.place}: the answer has no names and values. Check host and port.")
        return {_text(name) or "": text for name, value in rows if (text := _text(value)) is not None}

    def named_rows(self, statement: str) -> list[dict[str, str | None]]:
        """Runs a statement and returns each row as a mapping from column name to value as text; None is NULL."""
        with self._asking() as cursor:
            cursor.execute(statement)
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, map(_text, row), strict=True)) for row in cursor.fetchall()]

    def skip(self, statement: str) -> None:
        """Runs a statement and discards its result after reading it; the result may be up to SKIPPED_BYTES long."""
        with self._asking(SKIPPED_BYTES):
            self.connection.skip(statement)

    @contextmanager
    def _asking(self, most_bytes: int = 0) -> Iterator[Any]:
        now = time.monotonic()
        if now >= self.until:
            late = f"{self.place}: no time is left for another statement. Does the server answer slowly?"
            raise Unreachable(late) from TimeoutError()
        try:
            self.connection.end_by(min(now + self.statement_seconds, self.until), most_bytes or self.answer_bytes)
            with self.connection.cursor() as cursor:
                yield cursor
        except (pymysql.MySQLError, OSError) as error:
            raise translate(error, self.place) from error

    def run(self, statement: str, arguments: Iterable[Any] | None = None) -> None:
        self.rows(statement, arguments)

    def use(self, database: str) -> None:
        with self._asking():
            self.connection.select_db(database)

    def value(self, statement: str, arguments: Iterable[Any] | None = None) -> Any:
        return next(iter(self.rows(statement, arguments)), (None,))[0]

    @cached_property
    def has_engine(self) -> bool:
        return bool(self.rows("SHOW GLOBAL VARIABLES LIKE 'fqc_minor_version'"))

    def engine_name(self, name: str) -> str:
        return ENGINE_NAMES.get(name, name) if self.has_engine else name

    def variables(self) -> dict[str, str]:
        """Returns every global variable by its lower-case name.

        If the engine is loaded, query_cache_type, query_cache_size and query_cache_limit have the values of the
        engine's cache instead of the server's own.
        """
        found = {name.lower(): value for name, value in self.name_values("SHOW GLOBAL VARIABLES").items()}
        return found | {name: found[own] for name, own in ENGINE_NAMES.items() if own in found}

    def variable(self, name: str) -> str | None:
        """Returns the value of a global variable as text, or None if the server has no variable of this name.

        NULL becomes "", as in SHOW VARIABLES. Names of the query cache mean the engine's variables if the engine is
        loaded.
        """
        try:
            return _text(self.value(f"SELECT @@GLOBAL.{quoted(self.engine_name(name))}")) or ""
        except RefusedStatement as error:
            if error.number == ER.UNKNOWN_SYSTEM_VARIABLE:
                return None
            raise

    def status(self, pattern: str = "%") -> dict[str, str]:
        return self.name_values("SHOW GLOBAL STATUS LIKE %s", [pattern])

    def set_global(self, name: str, value: str | int) -> None:
        self.run(f"SET GLOBAL {quoted(self.engine_name(name))} = %s", [_typed(value)])

    def set_session(self, name: str, value: str | int) -> None:
        self.run(f"SET SESSION {quoted(self.engine_name(name))} = %s", [_typed(value)])

    def stay_uncounted(self) -> None:
        """Switches the query cache off for this session; a server without a query cache ignores that.

        The session's reads must not be counted as work of the cache, and a session that has the cache on would keep the
        engine from suspending as long as the session lives.
        """
        with suppress(RefusedStatement):
            self.run("SET SESSION query_cache_type = OFF")

    def set_global_default(self, name: str) -> None:
        self.run(f"SET GLOBAL {quoted(self.engine_name(name))} = DEFAULT")

    def may_keep(self) -> tuple[bool, bool]:
        """Returns two facts: whether this account may persist dynamic variables (SET PERSIST), and whether it may
        persist static ones (SET PERSIST_ONLY).

        Privileges of its roles are not considered.
        """
        rows = self.rows(
            "SELECT PRIVILEGE_TYPE FROM information_schema.USER_PRIVILEGES WHERE GRANTEE = %s", [self.account]
        )
        rights = {row[0] for row in rows}
        is_dynamic = bool(rights & {"SUPER", "SYSTEM_VARIABLES_ADMIN"})
        return is_dynamic, {"SYSTEM_VARIABLES_ADMIN", "PERSIST_RO_VARIABLES_ADMIN"} <= rights

    @property
    def account(self) -> str:
        """The account that the server authenticated this connection as, written as in a GRANT."""
        told = printable(str(self.value("SELECT CURRENT_USER()")))[:LONGEST_ACCOUNT]
        name, _, host = told.rpartition("@")
        return f"'{name}'@'{host}'"

    def kept(self, name: str) -> str | None:
        """Returns the value that SET PERSIST stored for the server's next start, or None if there is none."""
        told = "SELECT VARIABLE_VALUE FROM performance_schema.persisted_variables WHERE VARIABLE_NAME = %s"
        return _text(self.value(told, [self.engine_name(name)]))

    def keep(self, name: str, value: str | None, *, is_static: bool) -> None:
        """Persists a value for the server's next start; None removes the persisted value.

        The running value changes at once too, unless `is_static` or the value is removed.
        """
        own = quoted(self.engine_name(name))
        if value is None:
            self.run(f"RESET PERSIST IF EXISTS {own}")
        else:
            self.run(f"SET {'PERSIST_ONLY' if is_static else 'PERSIST'} {own} = %s", [_typed(value)])

    @property
    def plain_socket(self) -> socket.socket | None:
        """The connection's socket, for use with `bulk.ask_all`.

        None if the connection is closed, or is encrypted so that only PyMySQL can read it.
        """
        sock: socket.socket | None = self.connection._sock
        return None if isinstance(sock, ssl.SSLSocket) else sock

    @property
    def file_number(self) -> int:
        """The file descriptor of the connection's socket; -1 if the connection is closed."""
        sock: socket.socket | None = self.connection._sock
        return -1 if sock is None else sock.fileno()

    def close(self) -> None:
        try:
            self.connection.close()
        except (pymysql.MySQLError, OSError):
            self.connection._force_close()


def _text(value: Any) -> str | None:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return None if value is None else str(value)


def _typed(value: str | int) -> str | int | float:
    """Converts numbers, so that they are sent unquoted: the server refuses '8' for a numeric variable."""
    text = str(value)
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?\d+\.\d+", text) else text


def _tls(endpoint: Endpoint) -> ssl.SSLContext | None:
    if not endpoint.is_tls_required:
        return None
    return authorities(endpoint.tls_ca)


def authorities(pem: str) -> ssl.SSLContext:
    """Returns a TLS context that trusts the certificate authorities in `pem`, or the system's if `pem` is empty.

    Raises ssl.SSLError if `pem` is not a certificate.
    """
    try:
        return ssl.create_default_context(cadata=pem or None)
    except TypeError as error:
        raise ssl.SSLError(f"certificates are ASCII: {error}") from error


def public_key_check(pem: str) -> None:
    """Raises ValueError unless `pem` is an RSA public key."""
    if not isinstance(load_pem_public_key(pem.encode()), RSAPublicKey):
        raise ValueError("it is no RSA key")


def open_server(endpoint: Endpoint, limits: Limits) -> Server:
    """Connects and logs in, and returns the connection, which the caller must close.

    Raises GatewayError: RefusedEndpoint if the address is outside `limits.networks`, AccessDenied if the account is
    denied, Unreachable if there is no connection within `limits.connect_seconds`, or others.
    """
    place = f"{endpoint.host}:{endpoint.port}"
    until = time.monotonic() + limits.connect_seconds
    addresses = checked_addresses(endpoint.host, limits.networks, limits.connect_seconds)
    try:
        return Server(_connection(endpoint, addresses, until), place, limits)
    except Exception as error:  # PyMySQL may raise anything while it parses bytes that are not a MySQL greeting
        raise translate(error, place) from error


def _connection(endpoint: Endpoint, addresses: list[str], until: float) -> BoundedConnection:
    """Connects to the first checked address that accepts, and logs in, by `until` on the monotonic clock.

    TLS verifies the endpoint's host name, which is not resolved again.
    """
    tls = _tls(endpoint)
    connection = BoundedConnection(
        host=endpoint.host,
        port=endpoint.port,
        user=endpoint.username,
        password=endpoint.password,
        autocommit=True,
        charset="utf8mb4",
        ssl=tls,
        ssl_disabled=tls is None,
        local_infile=False,
        defer_connect=True,
    )
    sock = dial(addresses, endpoint.port, until)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connection.trusted_key = endpoint.public_key.encode()
    connection.end_by(until, CONNECT_BYTES)
    connection.connect(sock)
    return connection
