"""Many MySQL servers in few processes: enough for the poller and for changes of parameters, and counters that grow.

One listening socket per server, each on an address of its own in 127.0.0.0/8; each remembers what was set on it. What
it does not understand it answers with an error, so whoever starts to ask for more fails loudly instead of measuring
nothing. No TLS, no prepared
statements; any account is let in.

    python -m bench.simulator --count 1000
"""

from __future__ import annotations

import argparse
import asyncio
import ipaddress
import re
import resource
import struct
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping

FIRST_ADDRESS, PORT = "127.1.0.1", 33400
UTF8MB4 = 45
# PROTOCOL_41, SECURE_CONNECTION, PLUGIN_AUTH, LONG_PASSWORD, CONNECT_WITH_DB, TRANSACTIONS, MULTI_RESULTS
CAPABILITIES = 0x0200 | 0x8000 | 0x80000 | 0x1 | 0x8 | 0x2000 | 0x20000
AUTOCOMMIT = 2
QUIT, QUERY = 1, 3
OK = b"\x00\x00\x00" + struct.pack("<HH", AUTOCOMMIT, 0)
EOF = b"\xfe\x00\x00" + struct.pack("<H", AUTOCOMMIT)

COUNTERS = {  # name: growth per second
    "Questions": 900, "Com_select": 800, "Com_insert": 40, "Com_update": 50, "Com_delete": 5, "Com_replace": 5,
    "Com_update_multi": 0, "Com_delete_multi": 0, "Slow_queries": 1, "Qcache_hits": 700, "Qcache_inserts": 80,
    "Qcache_not_cached": 20, "Qcache_lowmem_prunes": 2, "Fqc_misses": 90, "Fqc_invalidations": 30, "Fqc_evictions": 2,
    "Fqc_observed_requests": 0, "Fqc_observed_hits": 0, "Fqc_observed_time_saved_us": 0,
    "Fqc_invalidations_avoided": 60, "Fqc_stale_hits": 0,
    "Fqc_bytes_saved": 1_400_000, "Fqc_time_saved_us": 210_000, "Fqc_contained_errors": 0,
    **{f"Fqc_answered_in_{bound}": 750 for bound in ("100us", "200us", "500us", "1ms", "2ms")},
    **{f"Fqc_answered_in_{bound}": 890 for bound in ("5ms", "10ms", "20ms", "50ms", "100ms", "200ms", "500ms")},
    **{f"Fqc_answered_in_{bound}": 900 for bound in ("1s", "2s", "5s", "10s")}, "Fqc_answered": 900,
    "Innodb_buffer_pool_reads": 10, "Innodb_buffer_pool_read_requests": 20_000,
}  # fmt: skip
GAUGES = {
    "Qcache_free_memory": 8_000_000, "Qcache_queries_in_cache": 4000, "Qcache_free_blocks": 10,
    "Qcache_total_blocks": 9000, "Fqc_bytes_used": 8_000_000, "Threads_connected": 30, "Threads_running": 3,
}  # fmt: skip
VARIABLES = {"query_cache_size": 16_777_216, "fqc_size": 16_777_216, "innodb_buffer_pool_size": 134_217_728}
SETTINGS = {"long_query_time": "10.000000", "sort_buffer_size": "262144", "version": "5.7.44-simulated"}
READ, SET = re.compile(r"SELECT @@GLOBAL\.`(\w+)`"), re.compile(r"SET GLOBAL `(\w+)` = '?([^']+)'?")
UNKNOWN_VARIABLE = b"\xff" + struct.pack("<H", 1193) + b"#HY000unknown variable"
STARTED = time.time()
set_on: dict[str, dict[str, str]] = defaultdict(lambda: dict(SETTINGS))  # by address


def text(value: bytes) -> bytes:
    return bytes([len(value)]) + value


def column(name: bytes) -> bytes:
    shape = struct.pack("<BHIBHBH", 0x0C, UTF8MB4, 256, 0xFD, 0, 0, 0)
    return text(b"def") + text(b"") * 3 + text(name) + text(name) + shape


def framed(packets: Iterable[bytes], sequence: int) -> bytes:
    framed = bytearray()
    for packet in packets:
        framed += struct.pack("<I", len(packet))[:3] + bytes([sequence & 0xFF]) + packet
        sequence += 1
    return bytes(framed)


def value(found: str) -> list[bytes]:
    return [b"\x01", column(b"value"), EOF, text(found.encode()), EOF]


def result(rows: Mapping[str, object]) -> list[bytes]:
    cells = [text(name.encode()) + text(str(value).encode()) for name, value in rows.items()]
    return [b"\x02", column(b"Variable_name"), column(b"Value"), EOF, *cells, EOF]


def status() -> dict[str, int]:
    elapsed = time.time() - STARTED
    grown = {name: int(rate * elapsed) for name, rate in COUNTERS.items()}
    return {**grown, **GAUGES, "Uptime": int(elapsed) + 1}


def answer(statement: str, settings: dict[str, str]) -> list[bytes]:
    if found := READ.fullmatch(statement):
        return value(settings[found[1]]) if found[1] in settings else [UNKNOWN_VARIABLE]
    if found := SET.fullmatch(statement):
        settings[found[1]] = found[2]
        return [OK]
    if statement.startswith("SHOW GLOBAL VARIABLES LIKE"):
        return result({})
    if statement == "SHOW GLOBAL VARIABLES":
        return result(settings)
    if statement.startswith("SHOW GLOBAL STATUS"):
        return result(status())
    if statement.startswith("SHOW GLOBAL VARIABLES"):
        return result(VARIABLES)
    if statement.startswith("SELECT 'clock'"):
        return result({"clock": int(time.time())})
    if statement.startswith("SET "):
        return [OK]
    return [b"\xff" + struct.pack("<H", 1064) + b"#42000not simulated: " + statement[:60].encode()]


GREETING = (
    b"\x0a5.7.44-simulated\x00" + struct.pack("<I", 1) + b"12345678\x00" + struct.pack("<H", CAPABILITIES & 0xFFFF)
    + struct.pack("<BHHB", UTF8MB4, AUTOCOMMIT, CAPABILITIES >> 16, 21) + b"\x00" * 10
    + b"123456789012\x00" + b"mysql_native_password\x00"
)  # fmt: skip


class Connection(asyncio.Protocol):
    """A connection.

    Commands are small and come one at a time, so the first four buffered bytes are always a packet header.
    """

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - of a stream server
        self.transport, self.buffer, self.is_let_in = transport, bytearray(), False
        self.settings = set_on[transport.get_extra_info("sockname")[0]]
        transport.write(framed([GREETING], 0))

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while len(self.buffer) >= 4 and len(self.buffer) >= 4 + (size := int.from_bytes(self.buffer[:3], "little")):
            sequence, packet = self.buffer[3], bytes(self.buffer[4 : 4 + size])
            del self.buffer[: 4 + size]
            self.obey(packet, sequence + 1)

    def obey(self, packet: bytes, sequence: int) -> None:
        if not self.is_let_in:
            self.is_let_in = True
            self.transport.write(framed([OK], sequence))
        elif packet[0] == QUIT:
            self.transport.close()
        elif packet[0] == QUERY:
            self.transport.write(framed(answer(packet[1:].decode(), self.settings), sequence))
        else:
            self.transport.write(framed([OK], sequence))


def addresses(first: int, count: int) -> list[str]:
    origin = ipaddress.IPv4Address(FIRST_ADDRESS)
    return [str(origin + number) for number in range(first, first + count)]


async def serve(first: int, count: int) -> None:
    loop = asyncio.get_running_loop()
    for address in addresses(first, count):
        await loop.create_server(Connection, address, PORT, backlog=8)
    print("ready", flush=True)  # noqa: T201 - whoever started this process waits for the line
    await asyncio.Event().wait()


def allow_files(count: int) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if count > most:
        raise SystemExit(f"{count} files are needed at once, {most} allowed: raise the hard limit, or measure fewer")
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, most))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="number of the first server")
    parser.add_argument("--count", type=int, default=1000)
    options = parser.parse_args()
    allow_files(2 * options.count + 100)
    asyncio.run(serve(options.first, options.count))
