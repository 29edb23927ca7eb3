"""The joint memory budget: values that are each in range may together exceed the instance class. Pure.

Buffer pool and query cache count in full. Each connection counts with its stack and network buffer, and every tenth one
with all its statement buffers: it is unlikely that all connections use them at once, but some do.
"""

from __future__ import annotations

from collections.abc import Mapping

from controlplane.catalogue.normal import NotOfType, integer

from .findings import Finding, Severity

SHARED = ("innodb_buffer_pool_size", "query_cache_size", "key_buffer_size", "innodb_log_buffer_size")
IDLE = ("thread_stack", "net_buffer_length")
BUSY = ("sort_buffer_size", "join_buffer_size", "read_buffer_size", "read_rnd_buffer_size", "binlog_cache_size")
BUSY_SHARE = 10
CACHES = ("innodb_buffer_pool_size", "query_cache_size")
BUDGETED = (*SHARED, *IDLE, *BUSY, "max_connections")


def memory_findings(values: Mapping[str, str], variables: Mapping[str, int]) -> list[Finding]:
    class_bytes = variables.get("DBInstanceClassMemory")
    if not class_bytes:
        return []  # the memory of the class is unknown
    caches = sum(_bytes(values, name) for name in CACHES)
    if caches > class_bytes:
        return [_over("memory_over_class", Severity.BLOCKING, "buffer pool and query cache", caches, class_bytes)]
    total = budget_bytes(values)
    if total > class_bytes:
        return [_over("memory_tight", Severity.ADVICE, "buffer pool, caches and connections", total, class_bytes)]
    return []


def budget_bytes(values: Mapping[str, str]) -> int:
    shared = sum(_bytes(values, name) for name in SHARED)
    idle = sum(_bytes(values, name) for name in IDLE)
    busy = sum(_bytes(values, name) for name in BUSY)
    connections = _bytes(values, "max_connections")
    return shared + connections * idle + connections * busy // BUSY_SHARE


def _bytes(values: Mapping[str, str], name: str) -> int:
    try:
        return integer(values.get(name, "0"))
    except NotOfType:
        return 0


def _over(code: str, severity: Severity, what: str, seen: int, class_bytes: int) -> Finding:
    return Finding(
        severity, code, "", f"{what} take {_mib(seen)}, {seen * 100 // class_bytes} % of the class's memory",
        f"at most {_mib(class_bytes)}",
        "Lower innodb_buffer_pool_size or query_cache_size, or choose a larger class.",
        facts={"taken": _mib(seen), "memory": _mib(class_bytes)},
    )  # fmt: skip


def _mib(count: int) -> str:
    return f"{count // 1024**2} MiB"
