"""Findings about an instance: like those about parameters, with the action that fixes them. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

from controlplane.parameters.findings import Finding, Severity


@dataclass(frozen=True)
class Action:
    """What fixes a finding: a request, which POSTs `body` to `route` under the instance's address, or `statements` for
    a person to run on the server.
    """

    route: str = ""
    body: dict[str, Any] = field(default_factory=dict)
    statements: tuple[str, ...] = ()


@dataclass(frozen=True)
class InstanceFinding(Finding):
    action: Action | None = None

    @property
    def is_blocking(self) -> bool:
        return self.severity is Severity.BLOCKING


def percent(share: float, digits: int = 0) -> str:
    return f"{share * 100:.{digits}f} %"


def of_parameters(findings: Iterable[Finding]) -> list[InstanceFinding]:
    return [
        InstanceFinding(**{each.name: getattr(finding, each.name) for each in fields(Finding)}) for finding in findings
    ]
