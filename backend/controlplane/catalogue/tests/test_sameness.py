"""Configured and running values: equal in meaning, rounded by the server, or drifted."""

from __future__ import annotations

import pytest

from controlplane.catalogue.definition import Definition, definition_from
from controlplane.catalogue.line import shipped_lines
from controlplane.catalogue.sameness import is_same

MIB = 1024**2
CHUNKS = {"innodb_buffer_pool_chunk_size": str(128 * MIB), "innodb_buffer_pool_instances": "8"}


def of(name: str) -> Definition:
    definition = shipped_lines()["5.7"].get(name)
    assert definition is not None
    return definition


@pytest.mark.parametrize(
    ("name", "configured", "running"),
    [
        ("query_cache_type", "1", "ON"),
        ("query_cache_type", "2", "DEMAND"),
        ("query_cache_type", "0", "OFF"),
        ("slow_query_log", "ON", "1"),
        ("slow_query_log", "off", "OFF"),
        ("performance_schema", "1", "ON"),
        ("query_cache_size", "16M", "16777216"),
        ("query_cache_size", "016777216", "16777216"),
        ("query_cache_size", "8117488189", "8117487616"),
        ("long_query_time", "1", "1.000000"),
        ("long_query_time", "0.5", ".500000"),
        ("sql_mode", "NO_ENGINE_SUBSTITUTION,ANSI_QUOTES", "ANSI_QUOTES,NO_ENGINE_SUBSTITUTION"),
        ("transaction_isolation", "read-committed", "READ-COMMITTED"),
        ("updatable_views_with_limit", "YES", "ON"),
        ("innodb_monitor_enable", "", ""),
    ],
)
def test_the_same(name: str, configured: str, running: str) -> None:
    assert is_same(of(name), configured, running)


@pytest.mark.parametrize(
    ("name", "configured", "running"),
    [
        ("query_cache_type", "1", "DEMAND"),
        ("query_cache_size", "16777216", "16776192"),
        ("query_cache_size", "8117488189", "8117486592"),
        ("long_query_time", "1", "1.000001"),
        ("sql_mode", "ANSI_QUOTES", ""),
        ("slow_query_log", "ON", "OFF"),
        ("query_cache_size", "16777216", ""),
    ],
)
def test_not_the_same(name: str, configured: str, running: str) -> None:
    assert not is_same(of(name), configured, running)


@pytest.mark.parametrize(
    ("running_mib", "variables", "same"),
    [
        (8192, CHUNKS, True),  # rounded up to whole chunks of all instances: 7741.4 MiB -> 8 x 128 MiB x 8
        (7168, CHUNKS, True),
        (6144, CHUNKS, False),
        (9216, CHUNKS, False),
    ],
)
def test_a_buffer_pool_is_rounded_to_chunks_of_all_instances(
    running_mib: int, variables: dict[str, str], same: bool
) -> None:
    definition = of("innodb_buffer_pool_size")
    assert is_same(definition, "8117488189", str(running_mib * MIB), variables) is same


def test_a_server_without_chunks_rounds_to_its_block_size() -> None:
    raw = {"name": "innodb_buffer_pool_size", "type": "integer", "rounds_to": [MIB]}
    definition = definition_from(raw)
    assert is_same(definition, "100000001", "99614720", {"innodb_buffer_pool_chunk_size": "0"})
    assert not is_same(definition, "100000001", "98566144")


def test_configured_flags_are_looked_for_among_all() -> None:
    definition = definition_from({"name": "optimizer_switch", "type": "flags"})
    assert is_same(definition, "mrr=on", "index_merge=on,mrr=on,semijoin=off")
    assert not is_same(definition, "mrr=on", "index_merge=on,mrr=off")


def test_huge_values_are_compared_exactly() -> None:
    assert not is_same(of("innodb_io_capacity"), "18446744073709551615", "18446744073709551614")
