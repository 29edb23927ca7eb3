"""From two readings to one sample: growth, resets, restarts, gaps."""

from __future__ import annotations

from typing import Any

from controlplane.metrics.columns import ANSWERED_WITHIN, P95_SUM
from controlplane.metrics.intervals import Reading, growth, reading_of


def reading(at: float, **status: int) -> Reading:
    return reading_of(at, {name: str(value) for name, value in status.items()}, {})


def test_counters_become_growth_and_gauges_stay() -> None:
    before = reading(100, Qcache_hits=50, Uptime=900, Threads_connected=3)
    now = reading(115, Qcache_hits=80, Uptime=915, Threads_connected=7)
    found = growth(before, now)
    assert (found["hits"], found["seconds"], found["connections"]) == (30, 15, 7)


def test_the_first_reading_counts_nothing_but_has_gauges() -> None:
    found = growth(None, reading(100, Qcache_hits=50, Threads_connected=3))
    assert (found["seconds"], found["hits"], found["connections"]) == (0, 0, 3)


def test_a_restart_counts_what_happened_since_it() -> None:
    before = reading(100, Qcache_hits=5000, Uptime=900)
    found = growth(before, reading(115, Qcache_hits=40, Uptime=4))
    assert (found["hits"], found["seconds"]) == (40, 4)


def test_a_restart_counts_even_where_a_counter_is_higher_than_before() -> None:
    before = reading(100, Qcache_hits=5, Uptime=900)
    assert growth(before, reading(115, Qcache_hits=40, Uptime=4))["hits"] == 40


def test_a_counter_that_was_reset_alone_counts_from_zero() -> None:
    before = reading(100, Qcache_hits=5000, Fqc_misses=0, Questions=100, Uptime=900)
    found = growth(before, reading(115, Qcache_hits=40, Fqc_misses=0, Questions=130, Uptime=915))
    assert (found["hits"], found["questions"], found["seconds"]) == (40, 30, 15)


def test_a_clock_that_went_back_counts_nothing() -> None:
    found = growth(reading(200, Qcache_hits=50, Uptime=900), reading(150, Qcache_hits=80, Uptime=915))
    assert (found["seconds"], found["hits"]) == (0, 0)


def test_a_clock_that_jumped_ahead_does_not_stretch_the_time_that_was_covered() -> None:
    found = growth(reading(100, Qcache_hits=50, Uptime=900), reading(715, Qcache_hits=80, Uptime=915))
    assert (found["seconds"], found["hits"]) == (15, 30)


def test_a_clock_of_the_server_that_jumped_ahead_changes_nothing() -> None:
    found = growth(reading(100, Qcache_hits=50, Uptime=900), reading(115, Qcache_hits=80, Uptime=4515))
    assert (found["seconds"], found["hits"]) == (15, 30)


def test_a_long_gap_counts_nothing() -> None:
    found = growth(reading(0, Qcache_hits=50, Uptime=1), reading(3600, Qcache_hits=80, Uptime=3601))
    assert (found["seconds"], found["hits"]) == (0, 0)


def test_lookups_are_hits_and_misses_with_the_engine() -> None:
    before = reading(0, Qcache_hits=10, Fqc_misses=10, Qcache_inserts=10, Uptime=10)
    found = growth(before, reading(10, Qcache_hits=16, Fqc_misses=14, Qcache_inserts=11, Uptime=20))
    assert found["lookups"] == 10


def test_lookups_are_hits_and_inserts_without_the_engine() -> None:
    before = reading(0, Qcache_hits=10, Qcache_inserts=10, Uptime=10)
    assert growth(before, reading(10, Qcache_hits=16, Qcache_inserts=13, Uptime=20))["lookups"] == 9


def test_statements_that_the_server_ran_are_those_that_no_cache_answered() -> None:
    """Hits are subtracted from Questions only without the engine: the engine answers before the server counts a
    statement, a server's own cache after that.
    """
    before = {"Qcache_hits": 10, "Questions": 100, "Uptime": 10}
    now = {"Qcache_hits": 40, "Questions": 150, "Uptime": 20}
    assert growth(reading(0, **before), reading(10, **now))["questions"] == 20
    with_engine = growth(reading(0, Fqc_misses=1, **before), reading(10, Fqc_misses=2, **now))
    assert with_engine["questions"] == 50


def test_variables_prefer_the_engines_own_name() -> None:
    variables = {"query_cache_size": "0", "fqc_size": "1048576", "innodb_buffer_pool_size": "134217728"}
    numbers = reading_of(0, {}, variables).numbers
    assert (numbers["cache_size_bytes"], numbers["pool_size_bytes"]) == (1048576, 134217728)


def test_what_a_server_does_not_say_is_unknown_not_zero() -> None:
    numbers: Any = reading_of(0, {"Qcache_hits": "?", "Questions": "5"}, {}).numbers
    assert (numbers["hits"], numbers["free_memory_bytes"], numbers["questions"]) == (None, None, 5)


def test_counters_beyond_a_double_stay_exact() -> None:
    before = reading(0, Fqc_bytes_saved=2**62 + 1, Uptime=1)
    assert growth(before, reading(10, Fqc_bytes_saved=2**62 + 8, Uptime=11))["saved_bytes"] == 7


def test_how_long_is_too_long_follows_the_interval() -> None:
    before, now = reading(0, Qcache_hits=50, Uptime=1), reading(3600, Qcache_hits=80, Uptime=3601)
    assert growth(before, now, longest_seconds=3 * 3600)["hits"] == 30


def answered(at: float, *quick: int, all_: int, **status: int) -> Reading:
    """Returns a reading in which so many statements were answered within 100, 200, 500 us and so on; the last number is
    used for all longer times.

    `all_` is the number of all statements.
    """
    names = [*ANSWERED_WITHIN.values()]
    counts = [*quick, *[quick[-1]] * (len(names) - len(quick))]
    return reading(at, **dict(zip(names, counts, strict=True)), Fqc_answered=all_, Uptime=900 + int(at), **status)


def p95_of(before: Reading, now: Reading) -> float:
    found = growth(before, now)
    assert found["answered"] and found[P95_SUM] is not None
    return found[P95_SUM] / found["answered"]


def test_the_95th_percentile_is_that_of_what_was_answered_in_between() -> None:
    before = answered(0, 1000, all_=1000)
    assert p95_of(before, answered(15, 1000, 1000, 1090, 1100, all_=1100)) == 750, "half of those in 500 us to 1 ms"
    assert p95_of(before, answered(15, 1099, 1100, all_=1100)) == 100, "no finer than the first bound"
    assert p95_of(before, answered(15, 1000, all_=1100)) == 10_000_000, "no more than the last bound"


def test_the_95th_percentile_after_a_restart_is_of_what_was_answered_since() -> None:
    before, now = answered(0, 1000, all_=1000), answered(15, 10, 100, all_=100)
    restarted = Reading(now.at, {**now.numbers, "uptime_seconds": 3})
    assert 190 < p95_of(before, restarted) < 200


def test_without_the_engine_nothing_is_known_of_how_long_answers_took() -> None:
    found = growth(reading(0, Questions=5, Uptime=1), reading(15, Questions=50, Uptime=16))
    assert (found["answered"], found[P95_SUM]) == (0, 0)
