"""The columns of a sample, and the variables of the server that they come from. Pure.

A counter is stored as its growth since the previous sample, a gauge as its value. So any period and any set of
instances can be added up: rates and ratios are quotients of sums, never averages of quotients.
"""

from __future__ import annotations

COUNTERS: dict[str, tuple[str, ...]] = {
    # column: the status variables that are added up
    "questions": ("Questions",),
    "selects": ("Com_select",),
    "writes": ("Com_insert", "Com_update", "Com_delete", "Com_replace", "Com_update_multi", "Com_delete_multi"),
    "slow_queries": ("Slow_queries",),
    "hits": ("Qcache_hits",),
    "inserts": ("Qcache_inserts",),
    "not_cached": ("Qcache_not_cached",),
    "lowmem_prunes": ("Qcache_lowmem_prunes",),
    "misses": ("Fqc_misses",),
    "invalidations": ("Fqc_invalidations",),
    "invalidations_avoided": ("Fqc_invalidations_avoided",),
    "stale_hits": ("Fqc_stale_hits",),
    "evictions": ("Fqc_evictions",),
    "saved_bytes": ("Fqc_bytes_saved",),
    "saved_microseconds": ("Fqc_time_saved_us",),
    "contained_errors": ("Fqc_contained_errors",),
    "verified": ("Fqc_verified",),
    "differences": ("Fqc_differences",),
    "answered": ("Fqc_answered",),
    "near_hits": ("Fqc_near_hits",),
    "near_misses": ("Fqc_near_misses",),
    "near_waits": ("Fqc_near_waits",),
    "near_waited_microseconds": ("Fqc_near_waited_us",),
    "observed_requests": ("Fqc_observed_requests",),
    "observed_hits": ("Fqc_observed_hits",),
    "observed_microseconds": ("Fqc_observed_time_saved_us",),
    "pool_reads": ("Innodb_buffer_pool_reads",),
    "pool_read_requests": ("Innodb_buffer_pool_read_requests",),
    "deadlocks": ("Innodb_deadlocks",),
    "row_lock_waits": ("Innodb_row_lock_waits",),
    "temporary_tables": ("Created_tmp_tables",),
    "temporary_disk_tables": ("Created_tmp_disk_tables",),
    "refused_connections": ("Connection_errors_max_connections",),
    "disk_reads": ("Innodb_data_reads",),
    "disk_writes": ("Innodb_data_writes",),
}

ANSWERED_WITHIN: dict[int, str] = {
    # microseconds: the status variable that counts statements that took no longer
    100: "Fqc_answered_in_100us",
    200: "Fqc_answered_in_200us",
    500: "Fqc_answered_in_500us",
    1_000: "Fqc_answered_in_1ms",
    2_000: "Fqc_answered_in_2ms",
    5_000: "Fqc_answered_in_5ms",
    10_000: "Fqc_answered_in_10ms",
    20_000: "Fqc_answered_in_20ms",
    50_000: "Fqc_answered_in_50ms",
    100_000: "Fqc_answered_in_100ms",
    200_000: "Fqc_answered_in_200ms",
    500_000: "Fqc_answered_in_500ms",
    1_000_000: "Fqc_answered_in_1s",
    2_000_000: "Fqc_answered_in_2s",
    5_000_000: "Fqc_answered_in_5s",
    10_000_000: "Fqc_answered_in_10s",
}

GAUGES: dict[str, str] = {
    "free_memory_bytes": "Qcache_free_memory",
    "cached_queries": "Qcache_queries_in_cache",
    "free_blocks": "Qcache_free_blocks",
    "total_blocks": "Qcache_total_blocks",
    "used_bytes": "Fqc_bytes_used",
    "near_caches": "Fqc_near_caches",
    "near_caches_detached": "Fqc_near_detached",
    "connections": "Threads_connected",
    "running_threads": "Threads_running",
    "lock_waiters": "Innodb_row_lock_current_waits",
    "uptime_seconds": "Uptime",
}

VARIABLES: dict[str, tuple[str, ...]] = {
    # gauge: global variables. The first one that the server has is used; the engine's own name comes first.
    "cache_size_bytes": ("fqc_size", "query_cache_size"),
    "pool_size_bytes": ("innodb_buffer_pool_size",),
    "most_connections": ("max_connections",),
}

# Gauges of replication, see `replication`; null for a server that does not replicate.
LAG, STOPPED_CHANNELS = "replication_lag_seconds", "stopped_channels"
REPLICATION_GAUGES = (LAG, STOPPED_CHANNELS)

# Gauges of storage, see `storage`; null for a server that does not report them.
STORAGE_GAUGES = ("table_bytes", "binary_log_bytes", "disk_bytes", "disk_free_bytes")

# Counters computed from others, see `intervals`. The second is the p95 of each interval times its number of statements,
# so that sums weigh every interval by its statements.
LOOKUPS, P95_SUM = "lookups", "p95_sum_microseconds"
COUNTER_COLUMNS = (*COUNTERS, LOOKUPS, P95_SUM)
GAUGE_COLUMNS = (*GAUGES, *VARIABLES, *REPLICATION_GAUGES, *STORAGE_GAUGES)
_COUNTED = {name for names in COUNTERS.values() for name in names} | set(ANSWERED_WITHIN.values())
STATUS_NAMES = tuple(sorted(_COUNTED | set(GAUGES.values())))
VARIABLE_NAMES = tuple(sorted({name for names in VARIABLES.values() for name in names}))
