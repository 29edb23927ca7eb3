"""The current states of all instances. Each app that knows a state is asked once for all instances."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from controlplane.changes.alarms import change_failed
from controlplane.fleet.alarms import (
    Alarms,
    answers_unusable,
    drifted_parameters,
    engine_lost,
    unreachable,
    unreachable_seconds,
)
from controlplane.metrics.alarms import samples_missing

# The functions that read the states defined in `states`.
READINGS: Mapping[str, Callable[[], Alarms]] = {
    "unreachable": unreachable,
    "engine_lost": engine_lost,
    "drifted_parameters": drifted_parameters,
    "answers_unusable": answers_unusable,
    "samples_missing": samples_missing,
    "change_failed": change_failed,
}


# The functions that return for how long a state has lasted, of the states whose beginning is stored. They take the
# present time in epoch seconds.
LASTING: Mapping[str, Callable[[float], Mapping[str, float]]] = {"unreachable": unreachable_seconds}


@dataclass(frozen=True)
class StateReading:
    # By instance id, the value and what was observed. A value of None means that it cannot be judged now.
    values: Mapping[str, tuple[float | None, str]]
    # By instance id, for how many seconds the state has lasted. It is not known of instances that are not listed.
    seconds: Mapping[str, float]

    def of(self, instance_id: str) -> tuple[float | None, str]:
        """Returns an instance's value and what was observed. An instance that is not listed is in order: 0."""
        return self.values.get(instance_id, (0.0, ""))


def state_reading(name: str, now: float) -> StateReading:
    """Returns the present state of all instances; `now` is in epoch seconds."""
    return StateReading(READINGS[name](), LASTING[name](now) if name in LASTING else {})
