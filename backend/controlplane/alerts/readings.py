"""The current states of all instances. Each app that knows a state is asked once for all instances."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from controlplane.changes.alarms import change_failed
from controlplane.fleet.alarms import answers_unusable, drifted_parameters, engine_lost, unreachable
from controlplane.metrics.alarms import samples_missing

Alarm = tuple[float | None, str] | tuple[float | None, str, datetime | None]
# The functions that read the states defined in `states`. Of a state whose beginning is stored, they also return when it
# began.
READINGS: Mapping[str, Callable[[], Mapping[str, Alarm]]] = {
    "unreachable": unreachable,
    "engine_lost": engine_lost,
    "drifted_parameters": drifted_parameters,
    "answers_unusable": answers_unusable,
    "samples_missing": samples_missing,
    "change_failed": change_failed,
}


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
    found = READINGS[name]()
    begun = {pk: each[2].timestamp() for pk, each in found.items() if len(each) == 3 and each[2]}
    # A beginning ahead of `now` comes from a clock that was set back.
    seconds = {pk: now - at for pk, at in begun.items() if at <= now}
    return StateReading({pk: (each[0], each[1]) for pk, each in found.items()}, seconds)
