"""Draws one figure for each workload, as PNG, in the shape of the published tables.

Bars at a point reach from the worst round to the best. Deliberately absent: smoothing, and axes of rates that do not
begin at zero.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from driver import near, published, raw
from driver.aims import ratio_at
from driver.kept import BASE, Kept, Measured
from driver.statistic import Spread

COLOURS = 32
# Different markers also distinguish them for those who do not see the colours.
STYLES = {
    "OFF": {"color": "#6b7280", "marker": "s"},
    "NATIVE": {"color": "#d97706", "marker": "^"},
    "FQC": {"color": "#2563eb", "marker": "o"},
    "DOZING": {"color": "#dc2626", "marker": "P"},
    "DIRECT": {"color": "#111827", "marker": "x"},
    "CACHED": {"color": "#db2777", "marker": "o"},
    "LOADED": {"color": "#059669", "marker": "D"},
    near.LOOPBACK: {"color": "#db2777", "marker": "p"},
    near.SOCKET: {"color": "#0891b2", "marker": "h"},
    near.IN_PROCESS: {"color": "#65a30d", "marker": "*"},
    near.MEMORY: {"color": "#db2777", "marker": "p"},
    near.SHARED: {"color": "#0891b2", "marker": "h"},
    near.HELD: {"color": "#db2777", "marker": "o"},
    near.NOT_HELD: {"color": "#6b7280", "marker": "s"},
    "IDEAL": {"color": "#7c3aed", "marker": "v"},
}
AXES = {
    "threads": "connections",
    "cache_mb": "cache, MB",
    "hit-percent": "statements that repeat, %",
    "range-size": "rows of each read",
    "near_caches": "near caches",
    "entries": "cached entries of the written table",
}
# Files do not change if the figures do not.
mpl.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
Find = Callable[[str, Any], Spread | None]


def draw_all(kept: Kept, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for measured in kept.measured:
        name, kind = measured.workload["name"], measured.workload["kind"]
        if kind == "load":
            _save(_load(measured), folder / name)
            _save(_latency(measured), folder / f"{name}-latency")
        elif kind in ("peer", "cold"):
            _save(_peer(measured), folder / name)
        elif kind == "write_cost":
            _save(_write_cost(measured), folder / name)
        elif kind == "near_write":
            _save(_near_write(measured), folder / name)


def _load(measured: Measured) -> Figure:
    figure, axes = plt.subplots(2, 2, figsize=(10, 6.5), layout="constrained")
    figure.suptitle(measured.workload["title"])
    varies_hits = measured.workload["axis"] != "threads"
    _panel(axes[0][0], measured, "queries per second", _of(measured, "qps"))
    _change(axes[0][1], measured)
    if varies_hits:
        _panel(axes[1][0], measured, "hit ratio", _of(measured, "hit_ratio"))
    else:
        _panel(axes[1][0], measured, "95th percentile, ms", _of(measured, "p95_ms"))
    _panel(axes[1][1], measured, "server CPU per query, us", _of(measured, "cpu_us_per_query"))
    return _with_legend(figure)


def _peer(measured: Measured) -> Figure:
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.5), layout="constrained")
    figure.suptitle(measured.workload["title"])
    _panel(axes[0], measured, "queries per second", _of(measured, "qps"))
    _change(axes[1], measured)
    return _with_legend(figure)


def _with_legend(figure: Figure) -> Figure:
    """Draws one legend for all panels, below them, where it hides no point. Returns the figure."""
    named: dict[str, Any] = {}
    for axes in figure.axes:
        lines, labels = axes.get_legend_handles_labels()
        named |= dict(zip(labels, lines, strict=True))
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=len(named))
    return figure


def _of(measured: Measured, measure: str) -> Find:
    def find(name: str, value: Any) -> Spread | None:
        series = measured.series(name, value, measure)
        return series.spread() if series else None

    return find


def _panel(axes: Axes, measured: Measured, title: str, find: Find) -> None:
    for name in measured.configurations:
        _line(axes, measured, name, find)
    axes.set_ylim(bottom=0)
    _label(axes, measured, title)


def _change(axes: Axes, measured: Measured) -> None:
    """Plots the speed of each configuration as a ratio to OFF, with the published ratios dashed."""

    def find(name: str, value: Any) -> Spread | None:
        return ratio_at(measured, name, BASE, value, "qps")

    for name in measured.configurations:
        if name != BASE:
            _line(axes, measured, name, find)
    theirs = published.changes(measured.workload["published"], measured.workload["scale"])
    for name, changes in theirs.items():
        places = [place for place, value in enumerate(measured.axis_values) if value in changes]
        heights = [changes[measured.axis_values[place]] for place in places]
        axes.plot(places, heights, linestyle="--", label=f"published {name}", **STYLES[name], fillstyle="none")
    axes.axhline(1, color=STYLES[BASE]["color"], linewidth=0.8)
    axes.set_ylim(bottom=0)
    _label(axes, measured, "times the queries of OFF")


def _line(axes: Axes, measured: Measured, name: str, find: Find) -> None:
    found = [(place, find(name, value)) for place, value in enumerate(measured.axis_values)]
    points = [(place, spread) for place, spread in found if spread]
    heights = [spread.median for _, spread in points]
    below = [spread.median - spread.low for _, spread in points]
    above = [spread.high - spread.median for _, spread in points]
    axes.errorbar([place for place, _ in points], heights, yerr=[below, above], capsize=3, label=name, **STYLES[name])


def _label(axes: Axes, measured: Measured, title: str) -> None:
    axes.set_title(title, loc="left")
    axes.set_xticks(range(len(measured.axis_values)), [str(value) for value in measured.axis_values])
    axes.set_xlabel(AXES[measured.workload["axis"]])
    axes.grid(axis="y", linewidth=0.3)


def _latency(measured: Measured) -> Figure:
    """Plots the share of events that took at most a given time, for all rounds together, at the middle value of the
    condition that the workload varies."""
    value = raw.middle(measured.axis_values)
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for name in measured.configurations:
        counts: dict[float, int] = {}
        for run in measured.at(name, value):
            for bucket, count in run["results"]["histogram"]:
                counts[bucket] = counts.get(bucket, 0) + count
        buckets, total, reached, shares = sorted(counts), sum(counts.values()), 0, []
        for bucket in buckets:
            reached += counts[bucket]
            shares.append(reached / total)
        axes.step(buckets, shares, where="post", label=name, color=STYLES[name]["color"])
    axes.set_xscale("log")
    axes.set_xlabel("milliseconds")
    axes.set_title(f"{measured.workload['title']}, {measured.workload['axis']} {value}", loc="left")
    axes.set_ylabel("share of events done")
    axes.grid(linewidth=0.3)
    axes.legend()
    return figure


def _write_cost(measured: Measured) -> Figure:
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for name in measured.configurations:
        _line(axes, measured, name, _of(measured, "write_ms"))
    axes.set_yscale("log")
    axes.legend()
    _label(axes, measured, "milliseconds for the first write")
    return figure


def _near_write(measured: Measured) -> Figure:
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    _panel(axes, measured, "microseconds for a write", _of(measured, "write_us"))
    axes.legend()
    return figure


def _save(figure: Figure, path: Path) -> None:
    """Saves the figure with few colours, because there are only a few flat ones. This takes a quarter of the bytes."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=100)
    plt.close(figure)
    image = Image.open(drawn).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    image.save(path.with_suffix(".png"), optimize=True)
