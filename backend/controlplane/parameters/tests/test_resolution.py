"""The values of a template on three classes, and its findings."""

from __future__ import annotations

import pytest

from controlplane.catalogue.line import shipped_lines
from controlplane.parameters.findings import Severity
from controlplane.parameters.resolution import Resolution, resolve

LINE = shipped_lines()["5.7"]
GIB = 1024**3


def variables(memory: int, cpu: int = 1, connections: int = 100) -> dict[str, int]:
    return {
        "DBInstanceClassMemory": memory,
        "DBInstanceClassCPU": cpu,
        "DBInstanceClassConnections": connections,
        "AllocatedStorage": 20 * GIB,
    }


LARGE, SMALL, RESERVED = variables(12 * GIB, 4), variables(GIB), variables(GIB - GIB * 65 // 100)


def resolved(of: dict[str, str], on: dict[str, int], **options: bool) -> Resolution:
    return resolve(LINE, of, on, **options)


def codes(found: Resolution) -> list[tuple[str, str, str]]:
    return [(finding.severity.value, finding.code, finding.parameter) for finding in found.findings]


def test_the_submitted_text_is_echoed_beside_the_number() -> None:
    [value] = resolved({"innodb_buffer_pool_size": "< DBInstanceClassMemory*63 / 100 >"}, LARGE).values
    assert (value.submitted, value.resolved) == ("< DBInstanceClassMemory*63 / 100 >", "8117488189")
    assert value.canonical == "{DBInstanceClassMemory*63/100}"


@pytest.mark.parametrize(
    ("name", "expression"),
    [
        ("innodb_buffer_pool_instances", "{LEAST(DBInstanceClassMemory/1073741824, 8)}"),
        ("table_open_cache_instances", "{LEAST(DBInstanceClassMemory/1073741824, 16)}"),
        ("table_open_cache", "{LEAST(DBInstanceClassMemory/1073741824*256, 2048)}"),
        ("table_definition_cache", "{LEAST(DBInstanceClassMemory/1073741824*512, 2048)}"),
        ("innodb_open_files", "{LEAST(DBInstanceClassMemory/1073741824*1024, 20000)}"),
    ],
)
def test_documented_expressions_that_come_to_zero_on_a_small_class_block_and_name_what_fits(
    name: str, expression: str
) -> None:
    assert not resolved({name: expression}, LARGE).is_blocked
    found = resolved({name: expression}, RESERVED)
    [finding] = [each for each in found.findings if each.severity is Severity.BLOCKING]
    minimum = LINE.definitions[name].allowed.minimum
    assert (finding.code, finding.nearest) == ("zero_on_this_class", minimum)
    assert found.values[0].resolved == "0"


def test_clamping_moves_a_result_into_its_range_and_says_so() -> None:
    found = resolved({"table_open_cache": "{DBInstanceClassMemory/1073741824*256}"}, RESERVED, is_clamped=True)
    assert (found.values[0].resolved, found.is_blocked) == ("1", False)
    assert codes(found) == [("notice", "zero_on_this_class", "table_open_cache")]


def test_clamping_leaves_literals_alone() -> None:
    assert resolved({"table_open_cache": "0"}, LARGE, is_clamped=True).is_blocked


def test_a_result_that_is_no_multiple_is_rounded_down_and_says_so() -> None:
    found = resolved({"query_cache_size": "{DBInstanceClassMemory*7/100}"}, LARGE)
    assert found.values[0].resolved == str(901943132 // 1024 * 1024)
    assert codes(found) == [("notice", "not_a_multiple", "query_cache_size")]


def test_a_literal_that_is_no_multiple_is_refused() -> None:
    found = resolved({"query_cache_size": "901943132"}, LARGE)
    assert codes(found) == [("blocking", "not_a_multiple", "query_cache_size")]


def test_the_maximum_of_the_cache_is_reached_on_large_classes() -> None:
    expression = {"query_cache_size": "{DBInstanceClassMemory*63/100/1024*1024}"}
    assert "above_maximum" not in {code for _, code, _ in codes(resolved(expression, variables(15 * GIB)))}
    found = resolved(expression, variables(16 * GIB))
    assert ("blocking", "above_maximum", "query_cache_size") in codes(found)
    assert {finding.nearest for finding in found.findings if finding.code == "above_maximum"} == {"10485760000"}


def test_a_bound_that_is_an_expression_is_resolved_first() -> None:
    found = resolved({"innodb_buffer_pool_size": "{DBInstanceClassMemory*95/100}"}, LARGE)
    [finding] = [each for each in found.findings if each.code == "above_maximum"]
    assert finding.nearest == str(12 * GIB * 9 // 10)


def test_pool_and_cache_together_may_not_exceed_the_class() -> None:
    both = {
        "innodb_buffer_pool_size": "{DBInstanceClassMemory*3/4}",
        "query_cache_size": "{DBInstanceClassMemory*63/100/1024*1024}",
    }
    found = resolved(both, LARGE)
    assert ("blocking", "memory_over_class", "") in codes(found)
    assert any(
        "138 % of the class" in finding.seen or "137 % of the class" in finding.seen for finding in found.findings
    )


def test_connections_count_in_the_budget() -> None:
    template = {"innodb_buffer_pool_size": "{DBInstanceClassMemory*9/10}", "sort_buffer_size": "16M"}
    assert codes(resolved(template, variables(GIB, connections=10))) == []
    assert codes(resolved(template, variables(GIB, connections=1000))) == [("advice", "memory_tight", "")]


def test_the_whole_parameter_wise_range_of_findings() -> None:
    template = {
        "no_such_parameter": "1",
        "binlog_format": "ROW",
        "query_cache_type": "1",
        "query_cache_limit": "{AllocatedStorage/0}",
        "sort_buffer_size": "{1+1}",
        "long_query_time": "soon",
    }
    assert codes(resolved(template, LARGE)) == [
        ("blocking", "not_modifiable", "binlog_format"),
        ("blocking", "not_of_type", "long_query_time"),
        ("blocking", "unknown_parameter", "no_such_parameter"),
        ("blocking", "expression_has_no_value", "query_cache_limit"),
        ("notice", "restart_needed", "query_cache_type"),
        ("blocking", "expression_invalid", "sort_buffer_size"),
    ]


def test_values_are_normalised() -> None:
    template = {"query_cache_size": "64m", "slow_query_log": "1", "transaction_isolation": "read-committed"}
    found = {value.name: value.resolved for value in resolved(template, LARGE).values}
    assert found == {
        "query_cache_size": "67108864",
        "slow_query_log": "ON",
        "transaction_isolation": "READ-COMMITTED",
    }


def test_an_expression_may_switch_something_on() -> None:
    switch = {"performance_schema": "{LEAST(DBInstanceClassMemory/8589934592, 1)}"}
    assert [resolved(switch, on).values[0].resolved for on in (LARGE, SMALL)] == ["1", "0"]


def test_text_in_braces_is_text_where_no_number_is_meant() -> None:
    [value] = resolved({"init_connect": "{SET @a = 1}"}, LARGE).values
    assert (value.resolved, value.canonical) == ("{SET @a = 1}", None)


@pytest.mark.parametrize("variables", [{}, {"DBInstanceClassMemory": 0}])
def test_without_a_class_memory_nothing_is_said_about_memory(variables: dict[str, int]) -> None:
    assert codes(resolve(LINE, {"query_cache_size": "10485760000"}, variables)) == []


def test_a_name_that_is_almost_right_is_answered_with_the_one_that_was_meant() -> None:
    [finding] = resolved({"query_cach_size": "1024"}, LARGE).findings
    assert (finding.code, finding.remedy) == ("unknown_parameter", "Did you mean query_cache_size?")
    assert resolved({"nonsense": "1"}, LARGE).findings[0].remedy == "Correct the name, or remove it."


def test_what_mends_an_expression_is_a_sentence() -> None:
    [finding] = resolved({"query_cache_size": "{DBInstanceClassMemory+1024}"}, LARGE).findings
    assert finding.remedy == "Only * and / combine values; SUM(a, b) adds."
