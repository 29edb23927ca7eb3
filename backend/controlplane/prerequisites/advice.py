"""Advice on the cache of one instance: sizes by each rule side by side, the curve, and tables worth an SQL_CACHE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from controlplane.fleet.models import Instance, Observation
from controlplane.metrics.definitions import SECONDS
from controlplane.metrics.headlines import past_hour_sums
from controlplane.prerequisites.check import observe
from controlplane.prerequisites.gate import engine_obstacle
from controlplane.prerequisites.readings import Readings, TableUse, statistics_of
from controlplane.prerequisites.recommendation import ObservedReads, counted, grown, recommendation
from controlplane.prerequisites.rules import (
    advice_findings,
    is_cache_on,
    is_read_mostly,
    is_write_heavy,
    runs_well,
    takes_no_engine,
)
from controlplane.prerequisites.sizing import cache_size_bytes, knee, rounded
from controlplane.prerequisites.status import Curve, cache_curve


def cache_advice(instance: Instance) -> dict[str, Any]:
    readings = observe(instance)
    curve = cache_curve(instance)
    recommended = _recommendation(instance, readings, curve)
    return {
        "recommendation": recommended,
        "observation": Observation.objects.filter(instance=instance).first(),
        "findings": advice_findings(readings),
        "sizes": _sizes(readings, curve, suggested_bytes=recommended["size_bytes"]),
        "curve": [{"size_bytes": size, "hit_ratio": ratio} for size, ratio in curve.points],
        "tables": [table_advice(table, readings) for table in readings.tables],
        **_without_statistics(readings),
    }


def _recommendation(instance: Instance, readings: Readings, curve: Curve) -> dict[str, Any]:
    is_on = is_cache_on(readings)
    return recommendation(
        _served(instance, curve) if is_on else observed(instance, readings, curve),
        has_engine=instance.minor_version is not None,
        takes_engine=not engine_obstacle(instance),
        is_on=is_on,
        is_observing=is_observing(readings),
    )


def is_observing(readings: Readings) -> bool:
    return readings.variables.get("fqc_observe") in ("ON", "1")


def observed(instance: Instance, readings: Readings, curve: Curve) -> ObservedReads | None:
    """Returns what a running observation (the engine counts what the cache would do while it is off) has counted so
    far, or the result of an ended one; None if there is neither.
    """
    found = Observation.objects.filter(instance=instance).first()
    if found is None:
        return None
    size = _knee(curve)
    if found.result is not None:  # the size is read from the curve shown next to it, as long as the engine has one
        return ObservedReads(**{**found.result, "size_bytes": size or found.result["size_bytes"]})
    numbers = grown(found.counted_before, counted(readings.status))
    return ObservedReads(
        **numbers,
        seconds=(timezone.now() - found.started_at).total_seconds(),
        size_bytes=size,
        predicted=size and curve.ratio_at(size),
    )


def _served(instance: Instance, curve: Curve) -> ObservedReads:
    """Returns the reads of the past hour and how many of them the server's cache and near caches answered, from the
    same columns as the headlines.
    """
    sums = past_hour_sums(instance.pk)
    hits, others = ("hits", "near_hits"), ("inserts", "not_cached")
    return ObservedReads(
        requests=_total(sums, (*hits, *others)),
        hits=_total(sums, hits),
        microseconds=_total(sums, ("saved_microseconds",)),
        seconds=sums.get(SECONDS) or 0,
        size_bytes=_knee(curve),
    )


def _total(sums: Mapping[str, float | None], columns: tuple[str, ...]) -> int:
    return int(sum(sums.get(column) or 0 for column in columns))


def _knee(curve: Curve) -> int | None:
    return rounded(knee(curve.points)) if curve.points else None


def _without_statistics(readings: Readings) -> dict[str, str]:
    if readings.has_table_statistics:
        return {"tables_note": "", "tables_reason": ""}
    statistics = statistics_of(readings.variables)
    switch = f"{statistics.switch} = ON"
    how = f"add {switch} to its option file, restart it" if statistics.is_switched_at_start else f"set {switch}"
    note = f"The server keeps no table statistics: {how} and come back after some traffic."
    return {"tables_note": note, "tables_reason": f"no_{statistics.switch}"}


def suggested_rule(instance: Instance) -> str:
    """Returns the rule of the suggested cache size, such as `curve` or `buffer_pool`.

    It applies where a request names no rule. Reads from the server.
    """
    return next(str(size["rule"]) for size in cache_advice(instance)["sizes"] if size["is_suggested"])


def curve_or_kept(instance: Instance) -> list[tuple[int, float]]:
    """Returns the hit ratios that the engine predicts, as pairs of cache size in bytes and ratio; if it has none, the
    best point of an ended observation: the engine forgets its curve when it suspends.

    Empty if there is neither.
    """
    found = Observation.objects.filter(instance=instance).first()
    kept = ObservedReads(**found.result) if found and found.result else None
    points = cache_curve(instance).points
    if points or kept is None or kept.suggested_bytes is None:
        return points
    return [(kept.suggested_bytes, kept.hit_ratio or 0)]


def _sizes(readings: Readings, curve: Curve, *, suggested_bytes: int | None) -> list[dict[str, Any]]:
    pool = readings.number("innodb_buffer_pool_size")
    suggested = "curve" if suggested_bytes is not None else "buffer_pool"
    sizes: list[dict[str, Any]] = [
        {
            "rule": "buffer_pool",
            "size_bytes": cache_size_bytes("buffer_pool", pool_bytes=pool),
            "explanation": f"10 % of the buffer pool of {pool} bytes.",
        },
        {
            "rule": "result_set",
            "size_bytes": None,
            "explanation": "20 % of the total size of the results that are read repeatedly: enter that size.",
        },
        {
            "rule": "curve",
            "size_bytes": _knee(curve) or suggested_bytes,
            "explanation": curve.note or "Where the predicted hit ratio stops rising.",
        },
    ]
    return [{**size, "is_suggested": size["rule"] == suggested} for size in sizes]


def table_advice(table: TableUse, readings: Readings) -> dict[str, Any]:
    advice, explanation = "neutral", "Neither read-heavy nor write-heavy."
    if is_read_mostly(table) and runs_well(readings):
        advice, explanation = "keep", "Read often and written rarely: its results stay valid for a long time."
    elif is_read_mostly(table) and takes_no_engine(readings):
        advice, explanation = "near_rule", "Read often and written rarely: a good candidate for a near cache."
    elif is_read_mostly(table):
        advice, explanation = (
            "sql_cache",
            "Read often and written rarely: a good candidate for SQL_CACHE with query_cache_type 2.",
        )
    elif is_write_heavy(table):
        advice, explanation = "leave_out", "Written so often that results are invalidated before they are read again."
    return {
        "schema": table.schema,
        "table": table.table,
        "rows_read": table.rows_read,
        "rows_changed": table.rows_changed,
        "advice": advice,
        "explanation": explanation,
    }
