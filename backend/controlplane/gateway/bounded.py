"""PyMySQL's connection with a time limit, a limit on what is read, and protection of the password.

A socket's timeout starts again with every byte that arrives, so it limits one wait, not the whole. Here each wait may
only take the time left until `until`, which the caller sets before. Python itself limits writing and the TLS handshake
as a whole, if their timeout is the time left when they started.

Data is counted before it is read, by the memory that it takes: a value of one byte takes a hundred. The connection is
closed beyond the caller's limit.

The server chooses how the account is authenticated, and so can an attacker in its place. The password, or anything from
which the receiver can compute it, is only sent to a server that has proved its identity by TLS, or encrypted with a
public key that was given with the instance.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pymysql.connections import Connection, MySQLResult
from pymysql.constants import CR
from pymysql.err import InternalError, MySQLError, OperationalError

CHUNK_BYTES = 65536
MOST_COLUMNS = 4096  # the limit for a table on every server
PACKET_COST, ROW_COST, VALUE_COST, COLUMN_COST = 64, 64, 128, 2048  # bytes in memory, in addition to what arrived
HASHED = {b"mysql_native_password", b"client_ed25519", b"caching_sha2_password"}
RSA = b"sha256_password"  # the password is sent encrypted with a key, if there is one
IN_CLEAR = {b"mysql_clear_password", b"dialog", RSA}


class Withheld(OperationalError):
    """The server asked for the password in a way that would reveal it, or with an unknown method; it was not sent."""


class TooMuch(OperationalError):
    """The server sent more bytes than the caller allows, or too many columns. The connection was closed."""


class NotUnderstood(InternalError):
    """The server sent something that is not a valid answer. The connection was closed."""


class BoundedConnection(Connection):
    until = 0.0  # on the monotonic clock
    most_bytes = bytes_left = 0
    trusted_key = b""  # PEM; given with the instance, not by the server

    def end_by(self, until: float, most_bytes: int) -> None:
        """Sets the limits of the next statement; must be called before each. `until` is the time on the monotonic clock
        at which waiting for the server ends with an error; `most_bytes` is the memory that the answer may take.
        """
        self.until = until
        self.most_bytes = self.bytes_left = most_bytes
        self._read_timeout = self._write_timeout = max(until - time.monotonic(), 0.001)

    def count(self, bytes_: int) -> None:
        self.bytes_left -= bytes_
        if self.bytes_left < 0:
            self._force_close()
            raise TooMuch(CR.CR_SERVER_LOST, f"answered more than the {self.most_bytes:,} bytes that are read of it")

    def skip(self, statement: str) -> None:
        """Runs a statement and reads its result to the end without keeping a row.

        What is read counts towards the limit.
        """
        self.query(statement, unbuffered=True)
        result = self._result
        try:
            while result.unbuffered_active and not result._check_packet_is_eof(self._read_packet()):
                pass
        finally:
            result.unbuffered_active = False  # or else PyMySQL reads on when the result is discarded

    def _read_bytes(self, num_bytes: int) -> bytes:
        self.count(num_bytes + PACKET_COST)
        read = bytearray()
        try:
            while missing := num_bytes - len(read):
                self._sock.settimeout(self._left())
                piece = self._rfile.read1(min(missing, CHUNK_BYTES))  # data that has arrived, or else one wait
                if not piece:
                    raise ConnectionError("the server closed the connection")
                read += piece
        except OSError as error:
            self._force_close()
            raise OperationalError(CR.CR_SERVER_LOST, f"the answer did not arrive ({error})") from error
        finally:
            self._current_timeout = None  # PyMySQL's record of the timeout is outdated
        return bytes(read)

    def _left(self) -> float:
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError("not in time")
        return left

    def _read_query_result(self, unbuffered: bool = False) -> Any:
        """Overrides PyMySQL's method: rows and columns count towards the limit on what is read, and an invalid answer
        raises NotUnderstood.

        Returns the number of affected rows.
        """
        self._result = None
        result = _Answer(self)
        with self._understanding():
            result.init_unbuffered_query() if unbuffered else result.read()
        self._result = result
        if result.server_status is not None:
            self.server_status = result.server_status
        return result.affected_rows

    @contextmanager
    def _understanding(self) -> Iterator[None]:
        """Turns any exception that is not PyMySQL's own into NotUnderstood, and closes the connection: PyMySQL parses
        answers without checking that they are valid.
        """
        try:
            yield
        except MySQLError:
            raise
        except Exception as error:
            self._force_close()
            raise NotUnderstood(f"{type(error).__name__}: {error}") from error

    def _process_auth(self, plugin_name: bytes, auth_packet: Any, handler: Any = None) -> Any:
        name = plugin_name.decode(errors="replace")[:64]
        if plugin_name in IN_CLEAR and not self._secure and not (plugin_name == RSA and self.trusted_key):
            raise Withheld(CR.CR_AUTH_PLUGIN_ERR, _needs_tls(name))
        if plugin_name not in HASHED | IN_CLEAR:
            raise Withheld(CR.CR_AUTH_PLUGIN_ERR, f"the server asks for {name}. Give the account another plugin.")
        return super()._process_auth(plugin_name, auth_packet, handler)

    @property
    def server_public_key(self) -> bytes:
        """The server's public key in PEM, as given with the instance; PyMySQL encrypts the password with it.

        Raises Withheld if none was given, since PyMySQL would then ask the server, or an attacker in its place, for a
        key.
        """
        if self.trusted_key:
            return self.trusted_key
        raise Withheld(
            CR.CR_AUTH_PLUGIN_ERR, _needs_tls("the password, encrypted with a key that anybody may have made")
        )

    @server_public_key.setter
    def server_public_key(self, key: bytes | None) -> None:
        """Ignores the key: PyMySQL sets keys that came over the connection itself, which anybody may have made."""


class _Answer(MySQLResult):
    def _get_descriptions(self) -> None:
        if self.field_count > MOST_COLUMNS:
            self.connection._force_close()
            raise TooMuch(CR.CR_SERVER_LOST, f"answered with {self.field_count:,} columns")
        self.connection.count(COLUMN_COST * self.field_count)
        super()._get_descriptions()

    def _read_row_from_packet(self, packet: Any) -> tuple[Any, ...]:
        self.connection.count(ROW_COST + VALUE_COST * self.field_count)
        return super()._read_row_from_packet(packet)


def _needs_tls(asked: str) -> str:
    return (
        f"without TLS the server asks for {asked}. Give it a certificate, and require TLS for this instance; or give "
        "the instance the server's public key."
    )
