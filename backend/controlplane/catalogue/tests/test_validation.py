"""Literals against definitions of the 5.7 line."""

from __future__ import annotations

import pytest

from controlplane.catalogue.definition import Definition, definition_from
from controlplane.catalogue.line import shipped_lines
from controlplane.catalogue.validation import violations


def of(name: str) -> Definition:
    definition = shipped_lines()["5.7"].get(name)
    assert definition is not None
    return definition


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("query_cache_type", "1"),
        ("query_cache_type", "DEMAND"),
        ("query_cache_size", "0"),
        ("query_cache_size", "10485760000"),
        ("query_cache_size", "64M"),
        ("query_cache_limit", "1048576"),
        ("innodb_io_capacity", "18446744073709551615"),
        ("long_query_time", "0.1"),
        ("long_query_time", ".5"),
        ("slow_query_log", "off"),
        ("slow_query_log", "1"),
        ("sql_mode", ""),
        ("sql_mode", "ansi_quotes, IGNORE_SPACE"),
        ("default_time_zone", "+08:00"),
        ("init_connect", "SET NAMES utf8mb4; SET @a = '{1}'"),
        ("innodb_buffer_pool_size", "999999999999"),  # its maximum depends on the class
    ],
)
def test_values_that_fit(name: str, text: str) -> None:
    assert violations(of(name), text) == []


@pytest.mark.parametrize(
    ("name", "text", "code", "nearest"),
    [
        ("query_cache_size", "1000", "not_a_multiple", "1024"),
        ("query_cache_size", "512", "not_a_multiple", "0"),
        ("query_cache_size", "511", "not_a_multiple", "0"),
        ("query_cache_size", "1048577", "not_a_multiple", "1048576"),
        ("query_cache_size", "10485761024", "above_maximum", "10485760000"),
        ("query_cache_size", "-1024", "below_minimum", "0"),
        ("query_cache_limit", "0", "below_minimum", "1"),
        ("query_cache_limit", "2M", "above_maximum", "1048576"),
        ("query_cache_min_res_unit", "18446744073709551615", "above_maximum", "18446744073709551104"),
        ("query_cache_size", "9" * 40, "above_maximum", "10485760000"),
        ("binlog_cache_size", "4097", "not_a_multiple", "4096"),
        ("innodb_io_capacity", "18446744073709551616", "above_maximum", "18446744073709551615"),
        ("long_query_time", "0.05", "below_minimum", "0.1"),
        ("query_cache_type", "3", "not_of_type", None),
        ("query_cache_size", "much", "not_of_type", None),
        ("query_cache_size", "1.5M", "not_of_type", None),
        ("query_cache_size", "", "not_of_type", None),
        ("query_cache_size", "٣", "not_of_type", None),
        ("query_cache_size", "9" * 41, "not_of_type", None),
        ("long_query_time", "NaN", "not_of_type", None),
        ("long_query_time", "1e3", "not_of_type", None),
        ("slow_query_log", "maybe", "not_of_type", None),
        ("sql_mode", "ANSI_QUOTES,NO_SUCH_MODE", "not_of_type", None),
        ("default_time_zone", "Europe/Berlin", "no_match", None),
        ("collation_server", "utf8; DROP TABLE t", "no_match", None),
    ],
)
def test_values_that_do_not_fit(name: str, text: str, code: str, nearest: str | None) -> None:
    found = violations(of(name), text)
    assert (found[0].code, found[0].nearest) == (code, nearest)


def test_a_value_may_break_two_rules() -> None:
    assert [each.code for each in violations(of("query_cache_size"), "10485760001")] == [
        "above_maximum",
        "not_a_multiple",
    ]


def test_negative_bounds() -> None:
    definition = definition_from({"name": "x", "type": "integer", "allowed": "[-1-4194304]"})
    assert violations(definition, "-1") == []
    assert [each.nearest for each in violations(definition, "-2")] == ["-1"]


def test_the_nearest_multiple_stays_in_the_range() -> None:
    definition = definition_from({"name": "x", "type": "integer", "allowed": "[100-1000]", "divisor": 64})
    assert [each.nearest for each in violations(definition, "1")] == ["128", "128"]
    assert [each.nearest for each in violations(definition, "990")] == ["960"]


def test_violations_say_the_unit_and_the_bound() -> None:
    [found] = violations(of("query_cache_limit"), "2097152")
    assert found.detail == "2097152 is above the maximum of 1048576 bytes"
