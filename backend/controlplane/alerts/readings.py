"""What the states of all instances are now: each app that knows one is asked once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from controlplane.changes.alarms import change_failed
from controlplane.fleet.alarms import Alarms, answers_unusable, drifted_parameters, engine_lost, unreachable
from controlplane.metrics.alarms import samples_missing

# The function that reads each state which `states` defines.
READINGS: Mapping[str, Callable[[], Alarms]] = {
    "unreachable": unreachable,
    "engine_lost": engine_lost,
    "drifted_parameters": drifted_parameters,
    "answers_unusable": answers_unusable,
    "samples_missing": samples_missing,
    "change_failed": change_failed,
}


@dataclass(frozen=True)
class StateReading:
    values: Mapping[str, tuple[float | None, str]]  # of instances; None: cannot be judged now

    def of(self, instance_id: str) -> tuple[float | None, str]:
        """The value and what was seen. An instance that is not named is in order."""
        return self.values.get(instance_id, (0.0, ""))


def state_reading(name: str) -> StateReading:
    return StateReading(READINGS[name]())
