"""A server may answer anything where a number is expected, without making a request fail."""

import re

import pytest

from controlplane.gateway import reports
from controlplane.gateway.tests.hostile import END, OK, hostile
from controlplane.metrics.tests.fleet import instance_make

pytestmark = pytest.mark.django_db

ODD = {
    "empty": b"",
    "minus": b"-1",
    "infinite": b"inf",
    "exponent": b"1e9999",
    "word": b"many",
    "superscript": "\N{SUPERSCRIPT TWO}".encode(),
    "400 digits": b"9" * 400,
    "5000 digits": b"9" * 5000,
    "null": None,
}
# Answers that must be right so that the rest is queried.
RIGHT = {
    "version": b"10.11.11-MariaDB",
    "fqc_minor_version": b"20261120",
    "Uptime": b"1000",
    "userstat": b"ON",
    "clock": b"1800000000",
    "query_cache_type": b"ON",
    "fqc_type": b"ON",
    "fqc_rules": b"[]",
}
REPORTS = {
    "TABLES": [reports.TABLE_SCHEMA, reports.TABLE_NAME, *reports.TABLE_NUMBERS.values()],
    "CURVE": [reports.SIZE_BYTES, reports.HIT_RATIO],
    "QUERIES": [reports.DIGEST, reports.QUERY, reports.EXECUTIONS],
    "REASONS": [reports.REASON, reports.MEANING],
}
STATUS = ["Qcache_hits", "Qcache_inserts", "Qcache_not_cached", "Fqc_connections_served", "Threads_connected"]
STATUS += ["Fqc_observed_requests", "Fqc_observed_hits", "Fqc_observed_time_saved_us"]
VARIABLES = [*RIGHT, "innodb_buffer_pool_size", "query_cache_size", "query_cache_limit", "max_connections", "fqc_size"]
QUOTED, GLOBAL = re.compile(r"'([\w%]+)'"), re.compile(r"@@GLOBAL\.`?(\w+)`?")


def cell(value):
    if value is None:
        return b"\xfb"
    length = len(value)
    return (bytes([length]) if length < 251 else b"\xfc" + length.to_bytes(2, "little")) + value


def column(name):
    return b"\x03def\x00\x00\x00" + cell(name.encode()) + b"\x00\x0c\x2d\x00\xff\x00\x00\x00\xfd\x00\x00\x00\x00\x00"


def table(statement, odd):
    """Returns column names and rows with which an odd server answers a statement: `odd` is in place of every number,
    but for names in RIGHT.
    """
    if statement.startswith("SHOW FQC"):
        columns = REPORTS[statement.rpartition(" ")[2]]
        return columns, [[odd for _ in columns]]
    if statement.startswith("SHOW GLOBAL"):
        known = STATUS if "STATUS" in statement else VARIABLES
        asked = [name for name in QUOTED.findall(statement) if "%" not in name] or known
        return ["Variable_name", "Value"], [[name.encode(), RIGHT.get(name, odd)] for name in asked]
    if found := GLOBAL.search(statement):
        return ["n"], [[RIGHT.get(found[1], odd)]]
    if "TABLE_STATISTICS" in statement:
        return ["a", "b", "c", "d"], [[b"shop", b"orders", odd, odd]]
    return ["n"], [[RIGHT["clock"] if "UNIX_TIMESTAMP" in statement else odd]]


def odd_server(odd):
    def play(talk):
        talk.let_in()
        while True:
            statement = talk.statement()
            if statement.startswith("SET "):
                talk.say(OK)
                continue
            names, rows = table(statement, odd)
            packets = [b"".join(map(cell, row)) for row in rows]
            for body in (bytes([len(names)]), *map(column, names), END, *packets, END):
                talk.say(body)

    return play


@pytest.fixture(params=ODD.values(), ids=ODD)
def odd(request):
    with hostile(odd_server(request.param)) as listener:
        yield instance_make(port=listener.port, engine_version="10.11.11-MariaDB", minor_version=20261120)


READ = ("cache/status", "cache/tables", "cache/advice", "cache/queries", "prerequisites", "cache/rules")


def test_what_is_read_of_a_server_is_shown_without_the_numbers_that_are_none(operator, odd):
    found = {what: operator.get(f"/api/v1/instances/{odd.pk}/{what}").status_code for what in READ}
    assert found == dict.fromkeys(READ, 200)


def test_a_size_that_follows_from_the_server_is_refused_where_the_server_tells_none(operator, odd):
    for what, body in {"observe": {}, "preview": {"rule": "buffer_pool"}}.items():
        answer = operator.post(f"/api/v1/instances/{odd.pk}/cache/{what}", body)
        assert answer.json()["code"] in ("answer_not_usable", "server_silent"), (what, answer.json())
