"""The subject of a fleet apply: a version of a template, or the present library of the engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from controlplane.core.errors import Conflict
from controlplane.gateway.engine import library_digest, library_minor_version
from controlplane.parameters.models import Template
from controlplane.parameters.selectors import template_get, template_version_get
from controlplane.rollouts.states import ApplyKind


@dataclass(frozen=True)
class Subject:
    """The thing that a fleet apply installs: a version of a template, or the present library of the engine.

    The fields have the names of the columns of FleetApply.
    """

    kind: str
    template_id: str | None = None
    template_name: str = ""
    template_version: int = 0
    values: dict[str, str] = field(default_factory=dict)
    minor_version: int | None = None
    library_digest: str = ""

    @property
    def facts(self) -> dict[str, Any]:
        if self.kind == ApplyKind.UPGRADE:
            return {"minor_version": self.minor_version, "library_digest": self.library_digest}
        return {"template": self.template_name}


def subject_of(kind: str, template: str | None, template_version: int | None) -> Subject:
    if kind == ApplyKind.UPGRADE:
        return _engine()
    version = template_version_get(template_get(template or ""), template_version)
    of: Template = version.template
    return Subject(kind, of.pk, of.name, version.number, version.values)


def _engine() -> Subject:
    minor_version = library_minor_version(settings.ENGINE_LIBRARY)
    if minor_version is None:
        told = f"There is no engine to install: {settings.ENGINE_LIBRARY} is not one that a server here can load."
        raise Conflict(told, code="no_library")
    digest = library_digest(settings.ENGINE_LIBRARY)
    return Subject(ApplyKind.UPGRADE, minor_version=minor_version, library_digest=digest)
