"""The checks and the summary of a run: pages that differ, too few hits, reasons, statements."""

from collections import Counter

from lab import summary
from lab.floors import LEAST_HITS, complaints
from lab.measure import Difference, Measured, Result

MACHINE = {
    "processor": "A processor", "cores": 2, "memory_gb": 24, "system": "A system", "versions": ["a server 10.11"],
    "commit": "abc", "plugin_sha256": "0" * 64,
}  # fmt: skip


def measured(hits):
    counts = Counter(Com_select=1000, Questions=1200, Fqc_hits=hits, Fqc_misses=1000 - hits)
    return Measured(10, Counter(server=0.1, application=0.5), counts)


def result(hits=990, mode="plugin", differs=()):
    differences = [Difference(one, 1, "a post is edited", ["-old", "+new"]) for one in differs]
    rounds = {"off": [measured(0)], mode: [measured(hits)]}
    missed = [{"missed": 3, "Executions": 4, "Outdated": 1, "reasons": "", "statement": "SELECT a|b"}]
    return Result(rounds, differences, {"off": {}, mode: {"nondeterministic": 7}}, {"off": [], mode: missed})


def test_hits_are_those_of_the_near_cache_and_of_the_server_in_percent_of_all_reads():
    both = result(500, "exact")
    both.rounds["exact"][0].counts["Near_hits"] = 400
    assert both.hits("exact") == [90]


def test_a_page_that_differs_is_named_where_pages_may_not_be_outdated():
    [told] = complaints("wordpress", result(differs=["plugin", "rules"]))
    assert "wordpress, plugin, round 1" in told
    assert "a post is edited" in told
    assert "+new" in told


def test_too_few_hits_are_named():
    least = LEAST_HITS["wordpress"]["plugin"]
    assert list(complaints("wordpress", result(int(least * 10)))) == []
    assert "less than" in next(iter(complaints("wordpress", result(int(least * 10) - 10))))


def test_the_summary_has_hits_reasons_missed_statements_and_the_pages_that_differ():
    text = summary.render(MACHINE, {"wordpress": result(differs=["plugin"])})
    assert "| plugin | - | - | 99 (99..99) | 99.7 | 120 (120..120) |" in text
    assert "| nondeterministic | 7 | 100.0 % |" in text
    assert "`SELECT a\\|b`" in text
    assert "+new" in text


def test_hits_in_the_processes_of_the_application_are_shown_in_percent_of_all_reads():
    beside = result(mode="in-process")
    beside.rounds["in-process"][0].counts.update(Near_hits=800, Process_hits=750)
    beside.rounds["in-process"][0].seconds["near"] = 0.01
    assert "| in-process | 80 (80..80) | 75 (75..75) | 99 (99..99) |" in summary.render(MACHINE, {"wordpress": beside})


def test_a_near_cache_that_lacks_a_result_has_not_refused_the_read():
    by_log = result(0, "binlog")
    by_log.rounds["binlog"][0].counts.update(Near_hits=700)
    by_log.reasons["binlog"] = {"first_read": 50, "absent": 150, "outdated": 100}
    assert "| binlog | - | - | 0 (0..0) | 75 |" in summary.render(MACHINE, {"wordpress": by_log})


def test_waiting_for_the_database_is_shown_where_the_server_is_far_away():
    far = result()
    for rounds in far.rounds.values():
        rounds[0].seconds["waiting"] = 0.05
    text = summary.render(MACHINE, {"wordpress": far}, 500)
    assert "a packet takes 0.5 ms to the server" in text
    assert text.count(" 5 (5..5) | 0 |") == 2
    assert "a packet takes" not in summary.render(MACHINE, {"wordpress": result()})
