"""Two `RateCounts` stand for two processes, which only share the rows."""

import time

import pytest

from controlplane.core.models import RateCount
from controlplane.core.rate_counts import RateCounts
from controlplane.core.tasks import expire

pytestmark = pytest.mark.django_db
T = 1_800_000_000  # a full minute


def allowed(counts, limit, times, now=T):
    return sum(counts.is_within("who", limit, now) for _ in range(times))


def test_a_small_limit_is_kept_by_all_processes_together():
    one, two = RateCounts(), RateCounts()
    # the last call may be the one that updates the second
    assert allowed(one, 20, 15) + allowed(two, 20, 15) in (20, 21)


def test_a_large_limit_is_passed_by_a_hundredth_per_process_at_most():
    one, two = RateCounts(), RateCounts()
    assert 1000 <= allowed(one, 1000, 700) + allowed(two, 1000, 700) <= 1020


def test_what_is_refused_does_not_count():
    counts = RateCounts()
    assert allowed(counts, 5, 50) == 5
    assert RateCount.objects.get().count == 5
    assert allowed(counts, 5, 1, now=T + 119) == 1


def test_a_full_minute_gives_no_second_helping():
    counts = RateCounts()
    assert allowed(counts, 20, 20, now=T + 59) == 20
    assert allowed(counts, 20, 20, now=T + 60) == 0
    assert 9 <= allowed(counts, 20, 20, now=T + 90) <= 11


def test_callers_do_not_use_up_each_others_limit():
    counts = RateCounts()
    assert counts.is_within("a", 1, T) and not counts.is_within("a", 1, T)
    assert counts.is_within("b", 1, T)


def test_few_requests_cost_no_query(django_assert_num_queries):
    counts = RateCounts()
    with django_assert_num_queries(0):
        assert allowed(counts, 6000, 50) == 50


def test_old_counts_go():
    allowed(RateCounts(), 5, 1, now=time.time() - 600)
    assert RateCount.objects.exists()
    expire()
    assert not RateCount.objects.exists()
