"""`fqc metrics`: the measured figures of an instance."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from fqc.call import Call
from fqc.noun import Noun
from fqc.output import Cell, facts
from fqc.units import human_bytes, human_time, moment

app = Noun("Metrics, and how each is computed.")
_BARS = "·▁▂▃▄▅▆▇█"
_CURVE_WIDTH = 28
_DEFINITIONS: dict[str, Cell] = {"METRIC": "name", "UNIT": "unit", "FORMULA": "formula", "KIND": "kind"}
_SERIES: dict[str, Cell] = {
    "METRIC": "name",
    "COURSE": lambda it: curve(it["values"]),
    "WHOLE SPAN": "whole",
    "NEWEST": lambda it: next(iter(reversed(_known(it))), None),
    "LOWEST": lambda it: min(_known(it), default=None),
    "HIGHEST": lambda it: max(_known(it), default=None),
    "UNIT": "unit",
}

_GAPS = {
    "privilege": "unknown: the account lacks a privilege",
    "too_slow": "unknown: the server took too long",
    "not_told": "unknown: the server does not report it",
}
_STORAGE: dict[str, Cell] = {
    "READ": lambda it: human_time(it["at"] and datetime.fromtimestamp(it["at"], UTC).isoformat()),
    "TABLES AND INDEXES": lambda it: _known_size(it["table_bytes"], it["table_gap"]),
    "BINARY LOGS": lambda it: _known_size(it["binary_log_bytes"], it["binary_log_gap"]),
    "FREE DISK": lambda it: _known_size(it["disk_free_bytes"], it["disk_gap"]),
    "OF": lambda it: _SIZED[it["disk_source"]].format(human_bytes(it["disk_bytes"])),
}
_SIZED = {"none": "", "disk": "{} of the disk that holds the data", "allocated": "{} that the instance class states"}


@app.read("list")
def list_(call: Call) -> None:
    """List metrics with unit and formula."""
    call.show_items(call.api.get("metric-definitions")["items"], _DEFINITIONS)


@app.watch("latest")
def latest(
    call: Call,
    names: Annotated[list[str] | None, typer.Option("--metric", "-m", help="May be repeated.")] = None,
    instance: Annotated[str | None, typer.Option(help="Only of this instance; default: all.")] = None,
) -> None:
    """Show the newest values of every instance."""
    wanted = names or ["select_hit_ratio", "served_per_second", "statements_per_second", "used_bytes"]
    query = {"instance": call.api.get(f"instances/{instance}")["id"]} if instance else {}
    columns: dict[str, Cell] = {"INSTANCE": "instance_name"}
    columns |= {name.upper(): _latest_cell(name) for name in wanted}
    call.show_items(call.api.items("metrics/latest", **query), columns)


def _latest_cell(name: str) -> Cell:
    return lambda item: item["values"].get(name)


@app.watch("show")
def show(
    call: Call,
    instance: Annotated[str | None, typer.Argument(help="Instance; default: the whole fleet.")] = None,
    names: Annotated[list[str] | None, typer.Option("--metric", "-m", help="May be repeated.")] = None,
    since: Annotated[str, typer.Option(help="Start: a duration such as 2h, or a time.")] = "1h",
    until: Annotated[str | None, typer.Option(help="End: a duration before now, or a time; default: now.")] = None,
    points: Annotated[int, typer.Option(min=1, max=1000, help="Number to show.")] = 300,
) -> None:
    """Show metrics over time."""
    query: dict[str, Any] = {"names": ",".join(names or ["select_hit_ratio", "served_per_second"]), "points": points}
    query |= {"from": moment(since)} | ({"to": moment(until)} if until else {})
    found = call.api.get(f"instances/{instance}/metrics" if instance else "metrics/fleet", **query)
    call.show(found, lambda it: _table(it["series"]))


@app.read("storage")
def storage(call: Call, instance: Annotated[str, typer.Argument(help="Instance.")]) -> None:
    """Show the storage an instance uses, and why a figure is missing."""
    call.show(call.api.get(f"instances/{instance}/storage"), lambda it: facts(_STORAGE, it))


def _known_size(size: int | None, gap: str) -> str | None:
    return _GAPS.get(gap) if size is None else human_bytes(size)


def _table(series: list[dict[str, Any]]) -> Any:
    from fqc.output import table

    return table(_SERIES, series)


def curve(values: list[float | None], width: int = _CURVE_WIDTH) -> str:
    """Returns the values as a line of bars, at most `width` of them. Each bar is the highest of the values that it
    stands for; a dot means that none of them was measured.
    """
    share = max(1, -(-len(values) // width))
    columns = [[each for each in values[at : at + share] if each is not None] for at in range(0, len(values), share)]
    top = max((max(column) for column in columns if column), default=0) or 1
    return "".join(_BARS[1 + round(max(column) / top * 7)] if column else _BARS[0] for column in columns)


def _known(series: dict[str, Any]) -> list[float]:
    return [each for each in series["values"] if each is not None]
