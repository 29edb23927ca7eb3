"""Metrics in the dialect's format: keys of one or more values, joined by `&`.

The dialect has no keys for a query cache, so those are defined here. Every metric of the control plane is also a key by
its own name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from controlplane.metrics.definitions import METRICS
from controlplane.metrics.selectors import metrics_named
from controlplane.metrics.series import MOST_POINTS, Series, instance_series, span_of, times_of
from controlplane.rpc.actions.action import Action, Answer, Given, reads, utc
from controlplane.rpc.actions.target import instance_of
from controlplane.rpc.arguments import moment, required
from controlplane.rpc.errors import RpcError
from controlplane.settings.selectors import settings_get

MOST_KEYS = 30
LONGEST_DAYS = 400


@dataclass(frozen=True)
class Key:
    unit: str
    names: str  # the names of the values, joined by `&`: the dialect's ValueFormat
    metrics: tuple[str, ...]  # the control plane's metric for each name


KEYS = {
    "MySQL_QueryCacheHitRatio": Key("%", "hit_ratio&select_hit_ratio", ("hit_ratio", "select_hit_ratio")),
    "MySQL_QueryCacheRequests": Key(
        "int/s", "hits&inserts&not_cached", ("hits_per_second", "inserts_per_second", "not_cached_per_second")
    ),
    "MySQL_QueryCachePrunes": Key(
        "int/s", "lowmem_prunes&invalidations", ("prunes_per_second", "invalidations_per_second")
    ),
    "MySQL_QueryCacheMemory": Key("byte", "size&free", ("cache_size_bytes", "free_memory_bytes")),
    "MySQL_QueryCacheQueries": Key("int", "queries_in_cache", ("cached_queries",)),
    "MySQL_Sessions": Key("int", "active_session&total_session", ("running_threads", "connections")),
    "MySQL_InnoDBBufferReadHit": Key("%", "ibuf_read_hit", ("buffer_pool_hit_ratio",)),
} | {name: Key(each.unit, name, (name,)) for name, each in METRICS.items()}


def keys(raw: str) -> list[str]:
    names = list(dict.fromkeys(name.strip() for name in raw.split(",") if name.strip()))
    unknown = [name for name in names if name not in KEYS]
    if unknown or not names:
        known = ", ".join(KEYS)
        raise RpcError("InvalidKey.NotFound", f"Key: {', '.join(unknown) or raw!r} is not known here: {known}.", 404)
    if len(names) > MOST_KEYS:
        raise ValueError(f"name at most {MOST_KEYS} keys at once")
    return names


def describe(given: Given) -> Answer:
    instance = instance_of(given["DBInstanceId"])
    start, end = given["StartTime"], given["EndTime"]
    if not start < end or (end - start).days > LONGEST_DAYS:
        raise RpcError("InvalidEndTime", f"EndTime must be after StartTime, by at most {LONGEST_DAYS} days.")
    metrics = dict.fromkeys(name for key in given["Key"] for name in KEYS[key].metrics)
    poll_seconds = settings_get().poll_interval_seconds
    span = span_of(int(start.timestamp()), int(end.timestamp()), MOST_POINTS, poll_seconds)
    found = instance_series(instance.pk, metrics_named(",".join(metrics)), span)
    series = dict(zip(metrics, found, strict=True))
    times = [datetime.fromtimestamp(at, UTC) for at in times_of(span)]
    return {
        "DBInstanceId": instance.pk,
        "Engine": "MySQL",
        "StartTime": f"{start:%Y-%m-%dT%H:%MZ}",
        "EndTime": f"{end:%Y-%m-%dT%H:%MZ}",
        "PerformanceKeys": {"PerformanceKey": [_shown(key, series, times) for key in given["Key"]]},
    }


def _shown(name: str, series: dict[str, Series], times: Sequence[datetime]) -> Answer:
    key = KEYS[name]
    columns = [series[metric].values for metric in key.metrics]
    points = [
        {"Date": utc(at), "Value": _joined(values)}
        for at, *values in zip(times, *columns, strict=True)
        if None not in values
    ]
    return {"Key": name, "Unit": key.unit, "ValueFormat": key.names, "Values": {"PerformanceValue": points}}


def _joined(values: Sequence[float | None]) -> str:
    return "&".join(f"{value:.2f}" for value in values)


PERFORMANCE: dict[str, Action] = {
    "DescribeDBInstancePerformance": reads(
        describe,
        required("DBInstanceId"),
        required("Key", keys),
        required("StartTime", moment),
        required("EndTime", moment),
    )
}
