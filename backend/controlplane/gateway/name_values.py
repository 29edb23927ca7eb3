"""Rows of names and values in the MySQL protocol: the one kind of answer that a round over many servers reads. Pure.

A reader is fed what arrives, in whatever pieces, and gives the values once the answer is complete. What is no such
answer, an error among others, it refuses; whoever asked closes the connection then.
"""

from __future__ import annotations

Values = dict[str, str]
COM_QUERY = b"\x03"
HEADER_BYTES, COLUMNS = 4, 2
ERROR, END, NULL, TWO_BYTES = 0xFF, 0xFE, 0xFB, 0xFC
MOST_BYTES, MOST_PACKETS = 1024**2, 10_000  # of one answer; all variables of a server are 100 KB and 1300 rows
SHOWN = 500  # of what is refused
END_BYTES = 9  # what is longer is a row


class NotNameValues(ValueError):
    """The server says something else, or nothing more."""


def query_packet(statement: str) -> bytes:
    body = COM_QUERY + statement.encode()
    return len(body).to_bytes(3, "little") + b"\x00" + body


class AnswerReader:
    """For one connection, one answer after the other. Each byte is looked at once, however it arrives."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._unread = b""
        self._packets = self._arrived = 0
        self._values: Values = {}

    def read(self, data: bytes) -> Values | None:
        """None as long as something is missing."""
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
        """Of the packets that are whole; what is left stays unread."""
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
            if packets > COLUMNS + 1:  # their number, each of them, and their end came before
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
