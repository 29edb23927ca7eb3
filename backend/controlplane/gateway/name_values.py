"""Parses rows of names and values in the MySQL protocol, the only kind of answer that rounds over many servers read.
Pure.

A reader is given the data in pieces as it arrives, and returns the values once the answer is complete. It refuses
anything else, including errors; the caller then closes the connection.
"""

from __future__ import annotations

Values = dict[str, str]
COM_QUERY = b"\x03"
HEADER_BYTES, COLUMNS = 4, 2
ERROR, END, NULL, TWO_BYTES = 0xFF, 0xFE, 0xFB, 0xFC
MOST_BYTES, MOST_PACKETS = 1024**2, 10_000  # of one answer; all variables of a server are 100 KB and 1300 rows
SHOWN = 500  # bytes shown of a refused answer
END_BYTES = 9  # a longer packet is a row


class NotNameValues(ValueError):
    """The server sent an error, an answer that is not rows of names and values, or more than the limits allow.

    The connection must be closed.
    """


def query_packet(statement: str) -> bytes:
    body = COM_QUERY + statement.encode()
    return len(body).to_bytes(3, "little") + b"\x00" + body


class AnswerReader:
    """Parses the answers of one connection, one after the other. Each byte is examined once, however it arrives."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._unread = b""
        self._packets = self._arrived = 0
        self._values: Values = {}

    def read(self, data: bytes) -> Values | None:
        """Takes the next piece of the answer.

        Returns the values by name once the answer is complete, and the next piece then begins another answer; None as
        long as data is missing. Empty data means that the server has closed the connection. Raises NotNameValues.
        """
        if not data:
            raise NotNameValues("the server closed the connection")
        self._arrived += len(data)
        if self._arrived > MOST_BYTES:
            raise NotNameValues(f"more than {MOST_BYTES:,} bytes")
        values = self._take(self._unread + data if self._unread else data)
        if values is not None:
            self._begin()
        return values

    def _take(self, data: bytes) -> Values | None:
        """Parses the complete packets in `data`; the rest stays unread.

        Returns the values once the answer ends, else None.
        """
        at, packets, arrived, values = 0, self._packets, len(data), self._values
        while at + HEADER_BYTES < arrived:
            start = at + HEADER_BYTES
            end = start + (data[at] | data[at + 1] << 8 | data[at + 2] << 16)
            if end > arrived:
                break
            at = end
            lead = data[start]
            if lead == ERROR or (packets == 0 and lead != COLUMNS):
                raise NotNameValues(data[start : min(end, start + SHOWN)].decode(errors="replace"))
            if packets > COLUMNS + 1:  # packets before: the number of columns, each column, and their end
                if lead == END and end - start < END_BYTES:
                    return values
                end_of_name = start + 1 + lead
                length = data[end_of_name]
                if length != NULL:
                    value_at = end_of_name + (1 if length < NULL else 3 if length == TWO_BYTES else 4)
                    name = data[start + 1 : end_of_name].decode(errors="replace")
                    values[name] = data[value_at:end].decode(errors="replace")
            packets += 1
        if packets > MOST_PACKETS:
            raise NotNameValues(f"more than {MOST_PACKETS:,} packets")
        self._packets, self._unread = packets, data[at:]
        return None
