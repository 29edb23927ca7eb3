"""Every metric that can be plotted or alerted on, with its formula. Pure.

A metric is `scale * numerator / denominator`, both sums of columns. One description drives the SQL, the evaluation of
alerts and the text shown beside the plot, so they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .columns import COUNTER_COLUMNS, LAG, P95_SUM, STOPPED_CHANNELS

SECONDS = "seconds"
Terms = Mapping[str, int]  # column -> coefficient


@dataclass(frozen=True)
class MetricDefinition:
    name: str
    title: str
    unit: str
    kind: str  # rate, ratio, gauge
    formula: str
    description: str
    numerator: Terms
    denominator: Terms = field(default_factory=dict)  # empty means 1
    scale: int = 1
    traffic: str = ""  # the metric by which an alert rule's minimum traffic is judged

    @property
    def columns(self) -> set[str]:
        return set(self.numerator) | set(self.denominator)

    def value(self, sums: Mapping[str, float | None]) -> float | None:
        """Returns the metric's value from sums by column. None if a column is missing or the denominator is 0."""
        top, bottom = _total(self.numerator, sums), _total(self.denominator, sums) if self.denominator else 1.0
        return None if top is None or not bottom else self.scale * top / bottom


def _total(terms: Terms, sums: Mapping[str, float | None]) -> float | None:
    total = 0.0
    for column, coefficient in terms.items():
        amount = sums.get(column)
        if amount is None:
            return None
        total += coefficient * amount
    return total


def _rate(name: str, column: str, title: str, what: str, unit: str = "per second", scale: int = 1) -> MetricDefinition:
    formula = f"growth of {what} / seconds"
    return MetricDefinition(name, title, unit, "rate", formula, title, {column: 1}, {SECONDS: 1}, scale)


def _gauge(name: str, column: str, title: str, what: str, unit: str) -> MetricDefinition:
    return MetricDefinition(name, title, unit, "gauge", what, title, {column: 1})


def _ratio(
    name: str, title: str, formula: str, description: str, numerator: Terms, denominator: Terms, traffic: str = ""
) -> MetricDefinition:
    return MetricDefinition(name, title, "percent", "ratio", formula, description, numerator, denominator, 100, traffic)


_ALL = (
    _ratio(
        "hit_ratio", "Hit ratio of the server's cache",
        "hits / lookups, lookups = hits + Fqc_misses (without the engine: hits + inserts)",
        "Of the statements the cache was asked for, those it answered. Statements that can never be cached do not "
        "count, so a good cache next to much uncacheable work still shows as good.",
        {"hits": 1}, {"lookups": 1}, "lookups_per_second",
    ),
    _ratio(
        "select_hit_ratio", "Reads from caches", "hits / (hits + inserts + not_cached), hits with those of near caches",
        "Of all reads, those answered by the server's cache or by a near cache. Com_select is not used: MySQL leaves "
        "hits out of it, MariaDB counts them in. Where the server's cache counts no reads, those that near caches "
        "passed on are the ones not cached.",
        {"hits": 1, "near_hits": 1}, {"hits": 1, "near_hits": 1, "inserts": 1, "not_cached": 1}, "reads_per_second",
    ),
    _ratio(
        "buffer_pool_hit_ratio", "Buffer pool hit ratio",
        "1 - Innodb_buffer_pool_reads / Innodb_buffer_pool_read_requests",
        "Page reads that did not need the disk. Below 80 %, memory is better spent on the buffer pool than the cache.",
        {"pool_read_requests": 1, "pool_reads": -1}, {"pool_read_requests": 1}, "buffer_pool_requests_per_second",
    ),
    _ratio(
        "prune_ratio", "Evictions per insert", "lowmem_prunes / inserts",
        "Results evicted for lack of memory per result stored. If it stays high, the cache is too small.",
        {"lowmem_prunes": 1}, {"inserts": 1}, "inserts_per_second",
    ),
    _ratio(
        "memory_used_ratio", "Cache memory in use", "1 - Qcache_free_memory / query_cache_size",
        "Share of query_cache_size that holds entries.",
        {"cache_size_bytes": 1, "free_memory_bytes": -1}, {"cache_size_bytes": 1},
    ),
    _ratio(
        "fragmentation", "Fragmentation", "Qcache_free_blocks / Qcache_total_blocks",
        "Free blocks among all blocks. Only the classic cache fragments.",
        {"free_blocks": 1}, {"total_blocks": 1},
    ),
    _ratio(
        "write_share", "Share of writes", "writes / (writes + reads), writes = insert + update + delete + replace",
        "Writes invalidate results. Above a third, a cache rarely pays off.",
        {"writes": 1}, {"writes": 1, "selects": 1}, "questions_per_second",
    ),
    _ratio(
        "connections_used_ratio", "Connections in use", "Threads_connected / max_connections",
        "At 100 %, the server refuses further clients.", {"connections": 1}, {"most_connections": 1},
    ),
    _ratio(
        "temporary_disk_ratio", "Temporary tables on disk", "Created_tmp_disk_tables / Created_tmp_tables",
        "Of the temporary tables that statements needed, those that the server wrote to disk.",
        {"temporary_disk_tables": 1}, {"temporary_tables": 1}, "temporary_tables_per_second",
    ),
    _ratio(
        "observed_hit_ratio", "Hit ratio while observing", "Fqc_observed_hits / Fqc_observed_requests",
        "Of the reads that could be cached, those that the cache would have answered if it were on.",
        {"observed_hits": 1}, {"observed_requests": 1},
    ),
    _ratio(
        "near_hit_ratio", "Hit ratio of near caches", "hits / (hits + misses) of near caches",
        "Of the reads that came through near caches, those that were answered there, without a trip to the server.",
        {"near_hits": 1}, {"near_hits": 1, "near_misses": 1},
    ),
    MetricDefinition(
        "near_writer_wait", "How long a write waited for near caches", "milliseconds", "ratio",
        "Fqc_near_waited_us / Fqc_near_waits",
        "Of the writes that had to wait until near caches were notified of them: how long, on average.",
        {"near_waited_microseconds": 1}, {"near_waits": 1000},
    ),
    MetricDefinition(
        "p95_answer_time", "Response time, 95th percentile", "milliseconds", "ratio",
        "95th percentile of Fqc_answered_in_*, weighted by Fqc_answered",
        "The time in which the server, with the cache, answered 95 of 100 statements, between two polls; over longer "
        "spans, and of several instances, the mean of these, each weighted by its statements. Nothing is counted "
        "without the engine, or while it is suspended.",
        {P95_SUM: 1}, {"answered": 1000}, traffic="answered_per_second",
    ),
    _rate("answered_per_second", "answered", "Statements timed", "Fqc_answered"),
    _rate("lookups_per_second", "lookups", "Lookups", "lookups (hits + Fqc_misses, without the engine hits + inserts)"),
    MetricDefinition(
        "served_per_second", "Served from caches", "per second", "rate",
        "growth of Qcache_hits and of the hits of near caches / seconds",
        "Reads answered by the server's cache or by a near cache.", {"hits": 1, "near_hits": 1}, {SECONDS: 1},
    ),
    MetricDefinition(
        "reads_per_second", "All reads", "per second", "rate",
        "growth of hits, Qcache_inserts and Qcache_not_cached / seconds, hits with those of near caches",
        "All reads, answered by the server's cache, a near cache, or the server.",
        {"hits": 1, "near_hits": 1, "inserts": 1, "not_cached": 1}, {SECONDS: 1},
    ),
    _rate("hits_per_second", "hits", "Hits of the server's cache", "Qcache_hits"),
    _rate("misses_per_second", "misses", "Misses", "Fqc_misses"),
    MetricDefinition(
        "server_reads_per_second", "Reads that reached the server", "per second", "rate",
        "growth of Qcache_inserts and Qcache_not_cached / seconds", "Reads that the cache did not answer.",
        {"inserts": 1, "not_cached": 1}, {SECONDS: 1},
    ),
    _rate("inserts_per_second", "inserts", "Inserts", "Qcache_inserts"),
    _rate("not_cached_per_second", "not_cached", "Not cached", "Qcache_not_cached"),
    _rate("prunes_per_second", "lowmem_prunes", "Evictions for memory", "Qcache_lowmem_prunes"),
    _rate("invalidations_per_second", "invalidations", "Invalidations", "Fqc_invalidations"),
    _rate(
        "invalidations_avoided_per_second", "invalidations_avoided", "Invalidations avoided",
        "Fqc_invalidations_avoided",
    ),
    _rate("stale_hits_per_second", "stale_hits", "Stale results served by a rule", "Fqc_stale_hits"),
    _rate("evictions_per_second", "evictions", "Evictions", "Fqc_evictions"),
    _rate("saved_bytes_per_second", "saved_bytes", "Bytes from the cache", "Fqc_bytes_saved", "bytes per second"),
    MetricDefinition(
        "saved_time", "Server time saved", "microseconds per second", "rate", "growth of Fqc_time_saved_us / seconds",
        "How long the statements that the server's cache answered took when they ran. What hits of near caches save is "
        "not measured.",
        {"saved_microseconds": 1}, {SECONDS: 1},
    ),
    _rate(
        "observed_saved_time", "observed_microseconds", "Server time that would be saved",
        "Fqc_observed_time_saved_us", "microseconds per second",
    ),
    _rate("near_hits_per_second", "near_hits", "Hits in near caches", "Fqc_near_hits and of reported hits"),
    _rate("near_misses_per_second", "near_misses", "Misses in near caches", "Fqc_near_misses and of reported misses"),
    _rate("near_waits_per_second", "near_waits", "Writes that waited for near caches", "Fqc_near_waits"),
    _rate("verified_per_second", "verified", "Hits compared with the server's answer", "Fqc_verified"),
    _rate("differences_per_second", "differences", "Hits that differed from the server's answer", "Fqc_differences"),
    _rate("contained_errors_per_second", "contained_errors", "Errors caught by the engine", "Fqc_contained_errors"),
    MetricDefinition(
        "statements_per_second", "Statements", "per second", "rate",
        "growth of Questions and of hits / seconds, hits with those of near caches",
        "All statements that clients sent, including those that near caches answered: a server counts only those that "
        "reach it.",
        {"questions": 1, "hits": 1, "near_hits": 1}, {SECONDS: 1},
    ),
    _rate(
        "questions_per_second", "questions", "Statements that the server ran",
        "Questions (without the engine: minus hits)",
    ),
    _rate("selects_per_second", "selects", "Reads that the server ran", "Com_select"),
    _rate("writes_per_second", "writes", "Writes", "Com_insert, _update, _delete, _replace and multi-table forms"),
    _rate("slow_queries_per_second", "slow_queries", "Slow statements", "Slow_queries"),
    _rate("temporary_tables_per_second", "temporary_tables", "Temporary tables", "Created_tmp_tables"),
    _rate("row_lock_waits_per_second", "row_lock_waits", "Waits for row locks", "Innodb_row_lock_waits"),
    MetricDefinition(
        "deadlocks_per_second", "Deadlocks", "per second", "rate", "growth of Innodb_deadlocks / seconds",
        "MariaDB and Percona Server count them. MySQL has no such counter, so its figure stays at 0.",
        {"deadlocks": 1}, {SECONDS: 1},
    ),
    _rate(
        "refused_connections_per_second", "refused_connections", "Connections refused at the connection limit",
        "Connection_errors_max_connections",
    ),
    _rate("disk_reads_per_second", "disk_reads", "Reads from disk", "Innodb_data_reads"),
    _rate("disk_writes_per_second", "disk_writes", "Writes to disk", "Innodb_data_writes"),
    _rate("buffer_pool_reads_per_second", "pool_reads", "Page reads from disk", "Innodb_buffer_pool_reads"),
    _rate(
        "buffer_pool_requests_per_second", "pool_read_requests", "Page reads", "Innodb_buffer_pool_read_requests"
    ),
    _gauge("cached_queries", "cached_queries", "Cached results", "Qcache_queries_in_cache", "count"),
    _gauge("free_memory_bytes", "free_memory_bytes", "Free cache memory", "Qcache_free_memory", "bytes"),
    _gauge("used_bytes", "used_bytes", "Cache memory held by the engine", "Fqc_bytes_used", "bytes"),
    _gauge("cache_size_bytes", "cache_size_bytes", "Cache size", "query_cache_size", "bytes"),
    _gauge("pool_size_bytes", "pool_size_bytes", "Buffer pool size", "innodb_buffer_pool_size", "bytes"),
    _gauge("near_caches", "near_caches", "Near caches attached", "Fqc_near_caches, and those that report", "count"),
    _gauge(
        "near_caches_detached", "near_caches_detached", "Near caches detached",
        "Fqc_near_detached, and those that no longer report", "count",
    ),
    _gauge("connections", "connections", "Connections", "Threads_connected", "count"),
    _gauge("running_threads", "running_threads", "Running threads", "Threads_running", "count"),
    _gauge(
        "lock_waiters", "lock_waiters", "Transactions that wait for a row lock", "Innodb_row_lock_current_waits",
        "count",
    ),
    MetricDefinition(
        "replication_lag", "Replication lag", "seconds", "gauge", "Seconds_Behind_Source (MariaDB: _Master)",
        "How far a replica is behind the server that it replicates from; of several channels, the slowest one. Nothing "
        "for a server that does not replicate, and while replication is stopped, when the lag is not known.",
        {LAG: 1},
    ),
    MetricDefinition(
        "stopped_channels", "Stopped replication", "count", "gauge", "channels with a thread that is not running",
        "Replication channels that are stopped, failed, or cannot reach their source. Nothing for a server that does "
        "not replicate.",
        {STOPPED_CHANNELS: 1},
    ),
    _gauge("most_connections", "most_connections", "Connection limit", "max_connections", "count"),
    _gauge("uptime_seconds", "uptime_seconds", "Uptime", "Uptime", "seconds"),
)  # fmt: skip

METRICS: Mapping[str, MetricDefinition] = {definition.name: definition for definition in _ALL}

# These figures summarise an instance or the fleet. The console's tiles and lists, the CLI, the advice and the API all
# use them, for the same period.
HEADLINES = ("select_hit_ratio", "served_per_second", "saved_time", "statements_per_second", "buffer_pool_hit_ratio")
HEADLINE_SECONDS = 3600


def aggregate_of(column: str) -> str:
    """Returns the SQL function that combines a column of many rows: growth is added up, gauges are averaged."""
    return "SUM" if column in COUNTER_COLUMNS or column == SECONDS else "AVG"
