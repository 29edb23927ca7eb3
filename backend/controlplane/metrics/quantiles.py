"""Computes a quantile from the numbers of values within some bounds. Pure."""

from __future__ import annotations

from collections.abc import Iterable


def quantile(share: float, total: float, within: Iterable[tuple[int, float]]) -> float:
    """Returns the value that `share` of `total` values do not exceed. `within` has each bound in rising order, with the
    number of values within it; values are assumed to be evenly spread between two bounds.

    The result is never less than the first bound or more than the last, since nothing is known beyond them.
    """
    wanted, lower, below = share * total, 0, 0.0
    for bound, count in within:
        if count >= wanted:
            return bound if not lower else lower + (bound - lower) * (wanted - below) / (count - below)
        lower, below = bound, count
    return lower
