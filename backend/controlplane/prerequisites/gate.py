"""The three conditions of the fast query cache: engine line, minor version, no dedicated proxy. Pure."""

from __future__ import annotations

from typing import Protocol

from controlplane.gateway.product import ENGINE_PRODUCT
from controlplane.parameters.findings import Severity
from controlplane.prerequisites.findings import Action, InstanceFinding

LEAST_MINOR_VERSION = 20200331
LINE = "5.7"
INSTALL = (
    "-- copy fqc.so into the folder that this names:",
    "SELECT @@plugin_dir;",
    f"{ENGINE_PRODUCT.install_engine};",
    "SELECT @@fqc_minor_version;",
)


class Gated(Protocol):
    engine_line: str
    compatibility: str
    minor_version: int | None
    proxy_enabled: bool
    provider: str


def gate_findings(instance: Gated) -> list[InstanceFinding]:
    """One finding per condition, met or not."""
    return [_engine_line(instance), _minor_version(instance), _proxy(instance)]


def _engine_line(instance: Gated) -> InstanceFinding:
    line = instance.compatibility or instance.engine_line
    return InstanceFinding(
        Severity.NOTICE if line == LINE else Severity.BLOCKING,
        "engine_line",
        "",
        seen=f"engine line {line}",
        needed=f"engine line {LINE}",
        remedy="" if line == LINE else f"Move the data to an instance of line {LINE}.",
    )


def _minor_version(instance: Gated) -> InstanceFinding:
    version = instance.minor_version
    is_met = version is not None and version >= LEAST_MINOR_VERSION
    is_local = instance.provider == "local"
    remedy = "Upgrade the minor version." if is_local else "Install the engine on the server, then check again."
    return InstanceFinding(
        Severity.NOTICE if is_met else Severity.BLOCKING,
        "minor_version",
        "",
        seen=f"minor version {version}" if version else "no engine is installed",
        needed=f"minor version {LEAST_MINOR_VERSION} or later",
        remedy="" if is_met else remedy,
        action=None if is_met else Action(route="upgrade") if is_local else Action(statements=INSTALL),
    )


def _proxy(instance: Gated) -> InstanceFinding:
    is_met = not instance.proxy_enabled
    return InstanceFinding(
        Severity.NOTICE if is_met else Severity.BLOCKING,
        "dedicated_proxy",
        "",
        seen="the dedicated proxy is " + ("disabled" if is_met else "enabled"),
        needed="the dedicated proxy disabled",
        remedy="" if is_met else "Disable the dedicated proxy.",
        action=None if is_met else Action(route="proxy", body={"enabled": False}),
    )
