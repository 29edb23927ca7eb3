"""How the key figures of the past hour are shown. The API defines the figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fqc.output import Cell


def headlines_of(series: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the figures of the past hour as items with name, title, unit, formula and value, without their course."""
    kept = ("name", "title", "unit", "formula")
    return [{**{key: each[key] for key in kept}, "value": each["whole"]} for each in series]


def headline_cells(headlines: Iterable[dict[str, Any]]) -> dict[str, Cell]:
    """Returns the titles and formatted values of the figures, for `facts`."""
    return {f"{each['title']}, past hour": _cell(each) for each in headlines}


def _cell(headline: dict[str, Any]) -> Cell:
    return lambda _: human_figure(headline["value"], headline["unit"])


def human_figure(value: float | None, unit: str) -> str | None:
    """Returns a value with its unit, as the API names that. None if there is no value."""
    if value is None:
        return None
    written = _WRITTEN.get(unit)
    return written(value) if written else f"{value:.6g} {unit}"


_WRITTEN: dict[str, Callable[[float], str]] = {
    "percent": lambda value: f"{value:.1f} %",
    "per second": lambda value: f"{value:.1f}/s",
    "microseconds per second": lambda value: f"{value / 1e4:.1f} % of a core",
}
