"""Helpers for tests that make and run change sets with a given role."""

from __future__ import annotations

from typing import Any

from controlplane.changes import services
from controlplane.changes.execution import change_run
from controlplane.changes.models import ChangeSet
from controlplane.core.request_context import acting_as


def asked(instance: Any, parameters: dict[str, str | None], **facts: Any) -> ChangeSet:
    """Returns a change set of parameters, made and approved but not run, unless `facts` say otherwise.

    `parameters`: the wanted value of each. `facts` are further arguments of `change_parameters`.
    """
    instance.refresh_from_db()
    usual = {"apply": True, "when": "now", "at": None, "note": "", "allow_restart": False}
    with acting_as("tester", "usr-tester"):
        return services.change_parameters(instance, parameters=parameters, **{**usual, **facts})


def run(change: ChangeSet) -> ChangeSet:
    change_run(change.pk)
    change.refresh_from_db()
    return change


def changed(instance: Any, parameters: dict[str, str | None], **facts: Any) -> ChangeSet:
    change = run(asked(instance, parameters, **facts))
    assert change.state == "applied", (change.outcome_code, change.outcome_detail)
    instance.refresh_from_db()
    return change


def steps(change: ChangeSet) -> list[tuple[str, str, str]]:
    return [(step.kind, step.name, step.state) for step in change.steps.all()]
