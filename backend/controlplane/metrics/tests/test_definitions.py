"""Formulas are quotients of sums, and have no value if the denominator is 0."""

from __future__ import annotations

import pytest

from controlplane.metrics.columns import COUNTER_COLUMNS, GAUGE_COLUMNS
from controlplane.metrics.definitions import METRICS, SECONDS


@pytest.mark.parametrize(
    ("name", "sums", "value"),
    [
        ("hit_ratio", {"hits": 30, "lookups": 40}, 75.0),
        ("hit_ratio", {"hits": 0, "lookups": 0}, None),
        ("select_hit_ratio", {"hits": 30, "near_hits": 0, "inserts": 10, "not_cached": 60}, 30.0),
        ("select_hit_ratio", {"hits": 30, "near_hits": 100, "inserts": 10, "not_cached": 60}, 65.0),
        ("served_per_second", {"hits": 30, "near_hits": 60, "seconds": 15}, 6.0),
        ("statements_per_second", {"questions": 15, "hits": 30, "near_hits": 60, "seconds": 15}, 7.0),
        ("buffer_pool_hit_ratio", {"pool_read_requests": 1000, "pool_reads": 250}, 75.0),
        ("memory_used_ratio", {"cache_size_bytes": 1000, "free_memory_bytes": 400}, 60.0),
        ("memory_used_ratio", {"cache_size_bytes": None, "free_memory_bytes": None}, None),
        ("p95_answer_time", {"p95_sum_microseconds": 4000 * 10, "answered": 10}, 4.0),
        ("p95_answer_time", {"p95_sum_microseconds": 0, "answered": 0}, None),
        ("write_share", {"writes": 25, "selects": 75}, 25.0),
        ("hits_per_second", {"hits": 30, "seconds": 15}, 2.0),
        ("hits_per_second", {"hits": 30, "seconds": 0}, None),
        ("connections", {"connections": 7.0}, 7.0),
    ],
)
def test_formulas(name: str, sums: dict[str, float | None], value: float | None) -> None:
    assert METRICS[name].value(sums) == value


def test_a_ratio_of_many_intervals_is_that_of_their_sums() -> None:
    busy, idle = {"hits": 900, "lookups": 1000}, {"hits": 0, "lookups": 1}
    both = {column: busy[column] + idle[column] for column in busy}
    assert METRICS["hit_ratio"].value(both) == pytest.approx(89.91, abs=0.01)


def test_every_metric_is_made_of_columns_that_are_sampled_and_says_so() -> None:
    known = {SECONDS, *COUNTER_COLUMNS, *GAUGE_COLUMNS}
    for definition in METRICS.values():
        assert definition.columns <= known, definition.name
        assert definition.formula, definition.name
        assert definition.description, definition.name
        assert definition.traffic == "" or definition.traffic in METRICS, definition.name
