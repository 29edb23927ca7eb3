"""PyMySQL's connection with an end, a limit to what is read, and a refusal to give the password away.

A socket's timeout begins anew with every byte that arrives, so it bounds one wait and not the whole. Here each wait
gets what is left until `until`, which whoever asks sets before. Writing, and the handshake of TLS, are bounded as a
whole by Python itself, if their timeout is what was left when they began.

What is read is counted before it is read, and by what it takes in memory: a value of one byte takes a hundred. Beyond
the limit that whoever asks has set the connection is closed.

Which way the account is authenticated is the server's choice, and whoever listens in its place chooses too. The
password itself, or something that its receiver can turn into it, goes to a server that has proved by TLS who it is,
or to whoever holds the private key of a public key that was given with the instance, and to nobody else.
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
MOST_COLUMNS = 4096  # of a table, on every server there is
PACKET_COST, ROW_COST, VALUE_COST, COLUMN_COST = 64, 64, 128, 2048  # bytes in memory, beside what arrived
HASHED = {b"mysql_native_password", b"client_ed25519", b"caching_sha2_password"}
RSA = b"sha256_password"  # encrypted, where there is a key
IN_CLEAR = {b"mysql_clear_password", b"dialog", RSA}


class Withheld(OperationalError):
    """The server asked for the password in a way that would give it away."""


class TooMuch(OperationalError):
    """The server says more than anybody wants to hear."""


class NotUnderstood(InternalError):
    """What the server says is no answer."""


class BoundedConnection(Connection):
    until = 0.0  # by the clock that only counts
    most_bytes = bytes_left = 0
    trusted_key = b""  # PEM; given with the instance, and not by whoever answers

    def end_by(self, until: float, most_bytes: int) -> None:
        """Nothing that is asked from here on is waited for longer, and no more is read of the answer."""
        self.until = until
        self.most_bytes = self.bytes_left = most_bytes
        self._read_timeout = self._write_timeout = max(until - time.monotonic(), 0.001)

    def count(self, bytes_: int) -> None:
        self.bytes_left -= bytes_
        if self.bytes_left < 0:
            self._force_close()
            raise TooMuch(CR.CR_SERVER_LOST, f"answered more than the {self.most_bytes:,} bytes that are read of it")

    def skip(self, statement: str) -> None:
        """Runs it, and reads its answer without keeping a row."""
        self.query(statement, unbuffered=True)
        result = self._result
        try:
            while result.unbuffered_active and not result._check_packet_is_eof(self._read_packet()):
                pass
        finally:
            result.unbuffered_active = False  # or else PyMySQL reads on when it is thrown away

    def _read_bytes(self, num_bytes: int) -> bytes:
        self.count(num_bytes + PACKET_COST)
        read = bytearray()
        try:
            while missing := num_bytes - len(read):
                self._sock.settimeout(self._left())
                piece = self._rfile.read1(min(missing, CHUNK_BYTES))  # of what is there already, or else one wait
                if not piece:
                    raise ConnectionError("the server closed the connection")
                read += piece
        except OSError as error:
            self._force_close()
            raise OperationalError(CR.CR_SERVER_LOST, f"the answer did not arrive ({error})") from error
        finally:
            self._current_timeout = None  # what PyMySQL takes for set is not
        return bytes(read)

    def _left(self) -> float:
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError("not in time")
        return left

    def _read_query_result(self, unbuffered: bool = False) -> Any:
        """As PyMySQL's, with an answer that counts."""
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
        """PyMySQL takes an answer apart without asking whether it is one."""
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
        """PyMySQL asks for it when it is about to encrypt the password, and without it takes one from who answers."""
        if self.trusted_key:
            return self.trusted_key
        raise Withheld(
            CR.CR_AUTH_PLUGIN_ERR, _needs_tls("the password, encrypted with a key that anybody may have made")
        )

    @server_public_key.setter
    def server_public_key(self, key: bytes | None) -> None:
        """None is believed that came over the connection itself."""


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
