"""The measures that rules can watch: metrics of samples, and states of instances. Definitions only; pure.

A state has no samples: at each evaluation the app that knows it reads the present value (`readings`). Its value is a
number, so thresholds, overrides, reminders and silences work as for metrics.
"""

from __future__ import annotations

from collections.abc import Mapping

from controlplane.metrics.definitions import METRICS, MetricDefinition

VALUE = "value"  # the only column of a state, where a metric has columns of samples


def _state(name: str, title: str, formula: str, description: str) -> MetricDefinition:
    return MetricDefinition(name, title, "count", "state", formula, description, {VALUE: 1})


# The states that alert rules can watch, by name. `readings` has a function for each, which reads it for all instances.
STATES: Mapping[str, MetricDefinition] = {
    definition.name: definition
    for definition in (
        _state(
            "unreachable", "Server unreachable", "1 while the server does not answer, else 0",
            "The control plane cannot connect to the server, or cannot log in.",
        ),
        _state(
            "engine_lost", "Plugin lost", "1 while a server that had the plugin runs without it, else 0",
            "The server answers, but the plugin that it had is no longer loaded.",
        ),
        _state(
            "drifted_parameters", "Parameters that drifted",
            "parameters whose running value differs from the configured one",
            "A parameter was changed directly on the server, or lost with a restart.",
        ),
        _state(
            "change_failed", "Change failed", "1 if the last change failed or was rolled back within 24 h, else 0",
            "The instance runs as it did before the change, unless the change says otherwise.",
        ),
        _state(
            "answers_unusable", "Unusable responses", "kinds of responses that the control plane cannot use",
            "The server responds, but its figures or reports cannot be parsed or stored.",
        ),
        _state(
            "samples_missing", "Samples missing", "1 while a running server lacks the last three samples, else 0",
            "The server runs, but no counters of it are stored, so its charts and alerts are not updated.",
        ),
    )
}  # fmt: skip

MEASURES: Mapping[str, MetricDefinition] = {**METRICS, **STATES}
