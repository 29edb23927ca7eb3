"""A quantile from counts of what lay within some bounds. Pure."""

from __future__ import annotations

from collections.abc import Iterable


def quantile(share: float, total: float, within: Iterable[tuple[int, float]]) -> float:
    """`within`: each bound, rising, with how many lay within it. Evenly spread between two bounds is what is assumed.

    Never less than the first bound or more than the last, since nothing is known beyond them.
    """
    wanted, lower, below = share * total, 0, 0.0
    for bound, count in within:
        if count >= wanted:
            return bound if not lower else lower + (bound - lower) * (wanted - below) / (count - below)
        lower, below = bound, count
    return lower
