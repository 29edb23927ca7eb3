"""PyMySQL's connection with an end: who answers byte by byte is given up as surely as who says nothing.

A socket's timeout begins anew with every byte that arrives, so it bounds one wait and not the whole. Here each wait
gets what is left until `until`, which whoever asks sets before. Writing, and the handshake of TLS, are bounded as a
whole by Python itself, if their timeout is what was left when they began.
"""

from __future__ import annotations

import time

from pymysql.connections import Connection
from pymysql.constants import CR
from pymysql.err import OperationalError


class BoundedConnection(Connection):
    until = 0.0  # by the clock that only counts

    def end_by(self, until: float) -> None:
        """Nothing that is asked from here on is waited for longer."""
        self.until = until
        self._read_timeout = self._write_timeout = max(until - time.monotonic(), 0.001)

    def _read_bytes(self, num_bytes: int) -> bytes:
        read = bytearray()
        try:
            while missing := num_bytes - len(read):
                self._sock.settimeout(self._left())
                piece = self._rfile.read1(missing)  # of what is there already, or else one wait
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
