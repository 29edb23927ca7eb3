"""Compares what was measured with the aims that a workload states (its `targets`), and with figures that others
published."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from driver import published
from driver.kept import BASE, Measured
from driver.statistic import FEWEST_ROUNDS, Spread, ratio


@dataclass(frozen=True)
class Verdict:
    """One aim at one point of a workload's axis: the wanted ratio of two configurations, and the one that was found."""

    title: str
    point: str
    subject: str
    wanted: float
    is_lower_better: bool
    found: Spread

    @property
    def words(self) -> str:
        # Noise does not matter if even the worse end of the range meets the aim, or if not even the better end does.
        is_one_sided = self._is_enough(self.found.low) == self._is_enough(self.found.high)
        if len(self.found.values) < FEWEST_ROUNDS or (self.found.doubt and not is_one_sided):
            return f"{self.found.doubt} to tell"
        return "met" if self._is_enough(self.found.median) else "**not met**"

    def _is_enough(self, value: float) -> bool:
        return value <= self.wanted if self.is_lower_better else value >= self.wanted


def ratio_at(measured: Measured, configuration: str, base: str, value: Any, measure: str) -> Spread | None:
    series, other = measured.series(configuration, value, measure), measured.series(base, value, measure)
    return ratio(series, other) if series and other else None


def verdicts(measured: Measured) -> Iterator[Verdict]:
    for target in measured.workload["targets"]:
        is_lower_better = "at_most" in target
        configuration = target.get("configuration", "FQC")
        for key, wanted in target["at_most" if is_lower_better else "at_least"].items():
            value = next((value for value in measured.axis_values if str(value) == key), None)
            found = value is not None and ratio_at(measured, configuration, target["against"], value, target["measure"])
            if found:
                subject = f"{target['measure']}, {configuration} : {target['against']}"
                point = f"{measured.workload['axis']} {key}"
                yield Verdict(measured.workload["title"], point, subject, wanted, is_lower_better, found)


@dataclass(frozen=True)
class Compared:
    """Our speed against the configuration OFF at one point, as a ratio, and the published ratio at the same point."""

    title: str
    point: str
    theirs: float
    ours: Spread

    @property
    def is_worse(self) -> bool:
        return self.ours.median < self.theirs


def compared(measured: Measured) -> Iterator[Compared]:
    theirs = published.changes(measured.workload["published"], measured.workload["scale"]).get("FQC", {})
    for value in measured.axis_values:
        ours = ratio_at(measured, "FQC", BASE, value, "qps") if value in theirs else None
        if ours:
            yield Compared(measured.workload["title"], f"{measured.workload['axis']} {value}", theirs[value], ours)
