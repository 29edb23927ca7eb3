"""Statistics of repeated runs: a median with its spread, and ratios between runs under equal conditions only.

Invariant: no ratio leaves this module unless every condition of the two sides is the same but the configuration.
Ratios are taken round by round, because the runs of one round are neighbours in time and a drifting machine moves both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

# With fewer rounds the range says nothing about the noise.
FEWEST_ROUNDS = 3


class DifferentConditions(ValueError):
    """Two series must not be compared, since their conditions or rounds differ; the message says which."""


@dataclass(frozen=True)
class Spread:
    """The values of a measure, one per round. `noisy_above` is the widest acceptable range of them, relative to the
    median."""

    values: tuple[float, ...]
    noisy_above: float

    @property
    def median(self) -> float:
        return median(self.values)

    @property
    def low(self) -> float:
        return min(self.values)

    @property
    def high(self) -> float:
        return max(self.values)

    @property
    def doubt(self) -> str | None:
        """Returns the reason why the median must not be taken as a result: too few rounds, or too noisy. None if it
        may."""
        if len(self.values) < FEWEST_ROUNDS:
            return "too few rounds"
        if self.high - self.low > self.noisy_above * abs(self.median):
            return "too noisy"
        return None


@dataclass(frozen=True)
class Series:
    """The values of a measure for one configuration at one point of a workload, by the number of the round."""

    configuration: str
    conditions: Mapping[str, Any]
    rounds: Mapping[int, float]
    noisy_above: float

    def spread(self) -> Spread:
        return Spread(tuple(self.rounds.values()), self.noisy_above)


def ratio(series: Series, base: Series) -> Spread:
    """Returns the first series as a multiple of the second, round by round. Raises DifferentConditions if they do
    not match."""
    refuse_different(series, base)
    values = tuple(series.rounds[number] / base.rounds[number] for number in series.rounds)
    return Spread(values, min(series.noisy_above, base.noisy_above))


def refuse_different(series: Series, base: Series) -> None:
    names = sorted(set(series.conditions) | set(base.conditions))
    different = [name for name in names if series.conditions.get(name) != base.conditions.get(name)]
    if series.rounds.keys() != base.rounds.keys():
        different.append("rounds")
    if different:
        pair = f"{series.configuration} and {base.configuration}"
        raise DifferentConditions(f"{pair} ran under different conditions: {', '.join(different)}")


def crossing(points: Sequence[tuple[float, float]], level: float) -> float | None:
    """Returns the x at which straight lines through these points, in order of x, first reach the level. None if they
    never do."""
    if points and points[0][1] >= level:
        return points[0][0]
    for (x1, y1), (x2, y2) in pairwise(points):
        if y1 < level <= y2:
            return x1 + (x2 - x1) * (level - y1) / (y2 - y1)
    return None
