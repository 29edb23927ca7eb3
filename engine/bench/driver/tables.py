"""Formats figures as text, and rows as Markdown tables."""

from __future__ import annotations

from collections.abc import Sequence

from driver.statistic import Spread

NOTHING = "-"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def figure(value: float) -> str:
    """Formats a number with three significant digits, and without a fraction from 100 on."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def quantity(spread: Spread | None) -> str:
    """Formats a median with its range; a dash for None."""
    if spread is None:
        return NOTHING
    return f"{figure(spread.median)} ({figure(spread.low)}..{figure(spread.high)})"


def percent(ratio: float) -> str:
    return f"{(ratio - 1) * 100:+.1f} %"


def change(ratio: Spread | None) -> str:
    """Formats a ratio as a change in percent, with its range; a dash for None. If too noisy or with too few rounds,
    it says so instead."""
    if ratio is None:
        return NOTHING
    spread = f"({percent(ratio.low)}..{percent(ratio.high)})"
    return f"{ratio.doubt or percent(ratio.median)} {spread}"


def share(spread: Spread | None) -> str:
    return NOTHING if spread is None else f"{spread.median * 100:.1f} %"
