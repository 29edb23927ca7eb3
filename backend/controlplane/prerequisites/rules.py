"""Advice before the cache is enabled, from readings of the server. Pure. None of it blocks."""

from __future__ import annotations

import json

from controlplane.catalogue.normal import is_off
from controlplane.gateway.known_servers import is_refused, is_tested, tested_lines
from controlplane.gateway.product import edition_of, is_managed, product_of
from controlplane.parameters.findings import Severity
from controlplane.parameters.memory import budget_bytes
from controlplane.prerequisites.findings import Action, InstanceFinding, percent
from controlplane.prerequisites.readings import Readings, TableUse
from controlplane.prerequisites.sizing import rounded
from controlplane.prerequisites.staleness import engine_rules, stale_reads

LEAST_POOL_HIT_RATIO = 0.8
LEAST_POOL_READS = 1000  # with fewer reads the ratio is not meaningful
WRITE_HEAVY = 0.5  # rows changed per row read
READ_MOSTLY = 0.05
LEAST_TABLE_ROWS = 1000
LEAST_READS = 1000
GOOD_HIT_RATIO = 0.5
LEFT_OUT_OR_DEMANDED = (
    "Exclude it with a rule, or use query_cache_type 2 and SQL_CACHE only on tables that are read much and written "
    "little."
)
SWITCH_IT_OFF = (
    "Switch it off: it has one lock for all connections, and a near cache that follows the binary log needs it off."
)
SIZE_SLACK = 2  # up to twice the advised size there is no advice
MIB = 1024**2
LEAST_POOL_BYTES = 128 * MIB


def advice_findings(readings: Readings) -> list[InstanceFinding]:
    found = [
        _pool_hit_ratio(readings),
        _memory(readings),
        _size(readings),
        *_tables(readings),
        _classic_cache(readings),
        _cluster(readings),
        _server_line(readings),
        stale_reads(readings),
    ]
    return [finding for finding in found if finding is not None]


def pool_hit_ratio(readings: Readings) -> float | None:
    """Returns the share of InnoDB's page reads that the buffer pool answered since the server started; None if there
    were too few reads.
    """
    requests = readings.number("Innodb_buffer_pool_read_requests")
    if requests < LEAST_POOL_READS:
        return None
    return 1 - readings.number("Innodb_buffer_pool_reads") / requests


def _pool_hit_ratio(readings: Readings) -> InstanceFinding | None:
    ratio = pool_hit_ratio(readings)
    if ratio is None:
        return None
    is_met = ratio >= LEAST_POOL_HIT_RATIO
    facts = {"ratio": percent(ratio, digits=1), "least": percent(LEAST_POOL_HIT_RATIO)}
    return InstanceFinding(
        Severity.NOTICE if is_met else Severity.ADVICE,
        "buffer_pool_hit_ratio",
        "innodb_buffer_pool_size",
        seen=f"buffer pool hit ratio {facts['ratio']}",
        needed=f"at least {facts['least']}",
        remedy=""
        if is_met
        else "Give the buffer pool more memory before the cache takes some of it, or resize the instance.",
        action=None if is_met else _grown_pool(readings),
        facts=facts,
    )


def _grown_pool(readings: Readings) -> Action | None:
    """Returns a change that gives the buffer pool the class's free memory, up to 90 % of the class; None if that is too
    little, so that a larger class is needed.
    """
    pool, has = readings.number("innodb_buffer_pool_size"), readings.class_memory_bytes
    larger = min(pool + has - budget_bytes(readings.variables), has * 9 // 10)
    return _pool_of(larger, has) if larger - pool >= LEAST_POOL_BYTES else None


def _pool_of(size_bytes: int, class_bytes: int) -> Action:
    """Returns a change of the buffer pool's size as a formula, so that the size follows the instance class."""
    share = size_bytes * 100 // class_bytes
    is_enough = class_bytes * share // 100 >= LEAST_POOL_BYTES
    text = f"{{DBInstanceClassMemory*{share}/100}}" if is_enough else str(LEAST_POOL_BYTES)
    return _change("innodb_buffer_pool_size", text)


def _change(name: str, value: str) -> Action:
    return Action(route="changes", body={"parameters": {name: value}})


def _memory(readings: Readings) -> InstanceFinding | None:
    needed, has = budget_bytes(readings.variables), readings.class_memory_bytes
    if needed <= has:
        return None
    pool = readings.number("innodb_buffer_pool_size")
    return InstanceFinding(
        Severity.ADVICE,
        "memory_tight",
        "innodb_buffer_pool_size",
        seen=f"buffer pool, caches and connections can take up to {needed // MIB} MiB",
        needed=f"at most {has // MIB} MiB, the memory of the class",
        remedy="Shrink the buffer pool, or resize the instance.",
        action=_pool_of(max(LEAST_POOL_BYTES, pool - (needed - has)), has),
        facts={"taken": f"{needed // MIB} MiB", "memory": f"{has // MIB} MiB"},
    )


def _size(readings: Readings) -> InstanceFinding | None:
    size, pool = readings.number("query_cache_size"), readings.number("innodb_buffer_pool_size")
    advised = pool // 10
    if size <= advised * SIZE_SLACK:
        return None
    return InstanceFinding(
        Severity.ADVICE,
        "cache_size_unusual",
        "query_cache_size",
        seen=f"query_cache_size is {size // MIB} MiB",
        needed=f"about {advised // MIB} MiB, 10 % of the buffer pool, or 20 % of the size of the result sets",
        remedy="Check the size against the predicted hit ratio, or use the suggested size.",
        action=_change("query_cache_size", str(rounded(advised))),
        facts={"size": f"{size // MIB} MiB", "advised": f"{advised // MIB} MiB"},
    )


def is_write_heavy(table: TableUse) -> bool:
    return table.rows_changed >= LEAST_TABLE_ROWS and table.rows_changed > table.rows_read * WRITE_HEAVY


def is_read_mostly(table: TableUse) -> bool:
    return table.rows_read >= LEAST_TABLE_ROWS and table.rows_changed <= table.rows_read * READ_MOSTLY


def is_cache_on(readings: Readings) -> bool:
    is_off_now = is_off(readings.variables.get("query_cache_type")) or readings.number("query_cache_size") == 0
    return "fqc_minor_version" in readings.variables and not is_off_now


def runs_well(readings: Readings) -> bool:
    """Returns whether the cache is on for all statements (query_cache_type 1) and has a good hit ratio.

    Then advice about single statements is not needed.
    """
    hits = readings.number("Qcache_hits")
    reads = hits + readings.number("Qcache_inserts") + readings.number("Qcache_not_cached")
    is_everything = readings.variables.get("query_cache_type") in ("1", "ON")
    return is_cache_on(readings) and is_everything and reads >= LEAST_READS and hits >= reads * GOOD_HIT_RATIO


def _tables(readings: Readings) -> list[InstanceFinding]:
    return [
        InstanceFinding(
            Severity.ADVICE,
            "table_write_heavy",
            "",
            seen=f"{table.schema}.{table.table}: {table.rows_changed} rows changed, {table.rows_read} read",
            needed="mostly reads",
            remedy=_how_to_leave_out(readings),
            action=_left_out(readings, table),
            facts={
                "table": f"{table.schema}.{table.table}",
                "changed": str(table.rows_changed),
                "read": str(table.rows_read),
            },
        )
        for table in readings.tables
        if is_write_heavy(table) and not is_left_out(readings, table)
    ]


def takes_no_engine(readings: Readings) -> bool:
    version = readings.variables.get("version", "")
    return is_managed(edition_of(readings.variables)) or is_refused(product_of(version), version)


def _how_to_leave_out(readings: Readings) -> str:
    if takes_no_engine(readings):
        return "Exclude it from near caches with a rule in their rules file."
    return "Exclude it with a rule." if runs_well(readings) else LEFT_OUT_OR_DEMANDED


def _left_out(readings: Readings, table: TableUse) -> Action:
    """Returns the action that keeps a table out of the cache.

    With the engine it is a new first rule, since the first matching rule decides; without it query_cache_type DEMAND.
    If no engine can be loaded, it is a rule for near caches.
    """
    if takes_no_engine(readings):
        return Action(statements=("[[rule]]", f'table = "{table.schema}.{table.table}"', 'cache = "never"'))
    if "fqc_rules" not in readings.variables:
        return _change("query_cache_type", "2")
    rule = {"table": f"{table.schema}.{table.table}", "cache": "never"}
    return _change("fqc_rules", json.dumps([rule, *engine_rules(readings)]))


def is_left_out(readings: Readings, table: TableUse) -> bool:
    name = f"{table.schema}.{table.table}".lower()
    return any(
        rule.get("cache") == "never" and str(rule.get("table", "")).lower() == name for rule in engine_rules(readings)
    )


def _classic_cache(readings: Readings) -> InstanceFinding | None:
    """Returns a warning if the server's own query cache, which has a global lock, is on; None with the engine, which
    uses the same variables.
    """
    if "fqc_minor_version" in readings.variables or readings.number("query_cache_size") == 0:
        return None
    if is_off(readings.variables.get("query_cache_type")):
        return None
    return InstanceFinding(
        Severity.ADVICE,
        "classic_cache_on",
        "query_cache_type",
        seen="the server's own query cache is on",
        needed="the server's own query cache off",
        remedy=SWITCH_IT_OFF
        if takes_no_engine(readings)
        else "Install the engine: it takes over the settings and switches the server's own cache off.",
        action=_change("query_cache_type", "0") if takes_no_engine(readings) else None,
    )


def _server_line(readings: Readings) -> InstanceFinding | None:
    """Returns a finding if the engine was not tested with this version of the server.

    None if the engine does not load into it by itself, since the gate reports that instead.
    """
    version = readings.variables.get("version", "")
    product = product_of(version)
    lines = tested_lines(product)
    is_loaded = "fqc_minor_version" in readings.variables
    if not version or not lines or is_tested(product, version) or (is_refused(product, version) and not is_loaded):
        return None
    return InstanceFinding(
        Severity.ADVICE,
        "server_not_tested",
        "version",
        seen=f"server {version}",
        needed=f"{product.name} {', '.join(lines)}",
        remedy="The engine has not been tested with this server version. Try it on a copy of the server first.",
        facts={"version": version, "tested": f"{product.name} {', '.join(lines)}"},
    )


def _cluster(readings: Readings) -> InstanceFinding | None:
    variables = readings.variables
    if is_off(variables.get("wsrep_on")) or variables.get("wsrep_provider", "none") == "none":
        return None
    return InstanceFinding(
        Severity.ADVICE,
        "cluster_node",
        "wsrep_on",
        seen="the server is a node of a Galera cluster",
        needed="a server outside a cluster",
        remedy="The engine does not serve on a cluster node: only the server knows what other nodes have committed.",
    )
