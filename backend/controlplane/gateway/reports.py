"""What the engine's reports (``SHOW FQC ...``) are called, and what the control plane reads in them. Pure.

The engine's tests and ours hold both sides to docs/reference/engine.json.
"""

from __future__ import annotations

STATUS, REASONS, QUERIES, TABLES, CURVE = "STATUS", "REASONS", "QUERIES", "TABLES", "CURVE"

ITEM, VALUE = "Item", "Value"
OWN_COUNTS = {
    "hits": "Hits of this connection",
    "inserts": "Inserts of this connection",
    "not_cached": "Not cached of this connection",
}
WHY_NOT_CACHED = "Why its last read was not cached"

REASON, MEANING = "Reason", "Meaning"
# Reasons that time alone takes away.
PASSING_REASONS = {"table_unknown", "view_unknown", "changed", "no_memory", "session_settings", "not_reused"}

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
