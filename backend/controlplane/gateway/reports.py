"""Names of the engine's reports (``SHOW FQC ...``) and of the columns that the control plane reads. Pure.

Tests on both sides compare them with docs/reference/engine.json.
"""

from __future__ import annotations

STATUS, REASONS, QUERIES, TABLES, CURVE, NEAR = "STATUS", "REASONS", "QUERIES", "TABLES", "CURVE", "NEAR"

ITEM, VALUE = "Item", "Value"
OWN_COUNTS = {
    "hits": "Hits of this connection",
    "inserts": "Inserts of this connection",
    "not_cached": "Not cached of this connection",
}
WHY_NOT_CACHED = "Why its last read was not cached"

REASON, MEANING = "Reason", "Meaning"
# Reasons for not caching that disappear with time.
PASSING_REASONS = {"table_unknown", "view_unknown", "changed", "no_memory", "session_settings", "not_reused"}

DIGEST, QUERY, EXECUTIONS, HITS, TABLES_READ = "Digest", "Query", "Executions", "Hits", "Tables"
OBSERVED_REQUESTS, OBSERVED_HITS, OBSERVED_RATIO = "Observed_requests", "Observed_hits", "Observed_hit_ratio"
REASONS_TOLD = "Reasons"  # `changed=3, table_unknown=1`
# Counters that only grow.
QUERY_COUNTERS = (
    EXECUTIONS, HITS, "Inserts", "Not_cached", "Outdated", "Wasted", "Time_saved_us", "Bytes_saved", "Bytes_stored",
    "Stale_hits", OBSERVED_REQUESTS, OBSERVED_HITS, "Observed_time_saved_us",
)  # fmt: skip

# Figures per statement of a server without the engine, from its performance schema.
DIGEST_FIGURES = (
    "Server_time_us",
    "Rows_sent",
    "Rows_examined",
    "Mean_time_us",
    "Sampled",
    "Repeated_ratio",
)
SERVER_TIME, ROWS_SENT, ROWS_EXAMINED, MEAN_TIME, SAMPLED, REPEATED_RATIO = DIGEST_FIGURES
DIGEST_COUNTERS = (SERVER_TIME, ROWS_SENT, ROWS_EXAMINED)  # counters that only grow
DIGESTS = """
SELECT DIGEST AS Digest, MIN(DIGEST_TEXT) AS Query, SUM(COUNT_STAR) AS Executions,
CAST(SUM(SUM_TIMER_WAIT) / 1000000 AS UNSIGNED) AS Server_time_us,
CAST(SUM(SUM_TIMER_WAIT) / 1000000 / SUM(COUNT_STAR) AS UNSIGNED) AS Mean_time_us,
SUM(SUM_ROWS_SENT) AS Rows_sent, SUM(SUM_ROWS_EXAMINED) AS Rows_examined
FROM performance_schema.events_statements_summary_by_digest
WHERE DIGEST IS NOT NULL AND SCHEMA_NAME NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema')
GROUP BY DIGEST ORDER BY SUM(SUM_TIMER_WAIT) DESC LIMIT 300
"""

TABLE_SCHEMA, TABLE_NAME = "Table_schema", "Table_name"
TABLE_NUMBERS = {
    "entries": "Entries",
    "stored_bytes": "Bytes",
    "reads_cached": "Reads_cached",
    "reads_server": "Reads_server",
    "writes": "Writes",
    "invalidations_avoided": "Invalidations_avoided",
}

SIZE_BYTES, HIT_RATIO = "Size_bytes", "Hit_ratio"

NEAR_NAME, NEAR_ADDRESS, NEAR_OBSTACLE = "Name", "Address", "Obstacle"
NEAR_NUMBERS = {
    "attachment": "Attachment",
    "protocol": "Protocol",
    "tables": "Tables",
    "entries": "Entries",
    "stored_bytes": "Bytes",
    "hits": "Hits",
    "misses": "Misses",
    "writers_waited": "Writers_waited",
}
NEAR_MILLISECONDS = {"lease_ms": "Lease_ms", "lag_ms": "Lag_ms", "waited_ms": "Waited_ms"}
