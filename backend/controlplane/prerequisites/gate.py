"""The conditions of the fast query cache: an engine that is recent enough, and no dedicated proxy. Pure.

If no engine can be loaded, the findings say what works without it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from controlplane.gateway.known_servers import Admission, admission
from controlplane.gateway.product import DEFAULT_PRODUCT, is_managed, local_product
from controlplane.parameters.findings import Severity
from controlplane.prerequisites.findings import Action, InstanceFinding

LEAST_MINOR_VERSION = 20200331
COMPATIBILITY = "5.7"  # of the managed service's dialect, which the engine uses in every server
# The findings about an instance's engine. They are only valid once the server was reached.
OF_ENGINE = ("minor_version", "no_engine_there", "engine_idle")
TAKES_ENGINE = "a server that the engine can be loaded into"
WORKS_WITHOUT_ENGINE = "Parameters, templates, metrics and alerts work here without the engine."
USE_NEAR_CACHE = (
    "Use a near cache (fqc-near) next to the application to answer repeated reads: see the page Near caches."
)
USE_REPLICA = (
    f"For the cache, let a {DEFAULT_PRODUCT.name} server of your own replicate the data, and load the engine there."
)
ALLOW_UNTESTED = (
    "On a server of your own the engine also loads if the server is started with fqc_allow_untested_server, and "
    "serves if its self-test passes."
)


class EngineFacts(Protocol):
    engine_line: str
    engine_version: str
    compatibility: str
    fqc_version: str
    minor_version: int | None
    engine_obstacle: str
    proxy_enabled: bool
    provider: str
    product: str
    edition: str
    takes_engine: bool
    last_seen_at: datetime | None


def gate_findings(instance: EngineFacts) -> list[InstanceFinding]:
    """Returns the findings that decide whether the cache may be enabled: one per condition, whether it holds or not,
    and those about rare obstacles if there are any.

    The cache must stay off if one of them is blocking.
    """
    idle = [_idle(instance)] if instance.engine_obstacle else []
    proxy = [_proxy()] if instance.proxy_enabled else []
    return [*_server(instance), _minor_version(instance), *idle, *proxy]


def known_gate_findings(instance: EngineFacts) -> list[InstanceFinding]:
    """Returns the findings of `gate_findings`, but without those about the engine if the server was never reached,
    since it is unknown whether it has one.
    """
    found = gate_findings(instance)
    return [each for each in found if each.code not in OF_ENGINE or instance.last_seen_at]


def _server(instance: EngineFacts) -> list[InstanceFinding]:
    """Returns a finding that says which server this is, if the engine is there or can be loaded; none otherwise, since
    another finding says that it cannot.
    """
    if instance.minor_version is None and engine_obstacle(instance):
        return []
    is_met = instance.compatibility in ("", COMPATIBILITY)
    return [
        InstanceFinding(
            Severity.NOTICE if is_met else Severity.BLOCKING,
            "engine_line",
            "",
            seen=(server_name(instance) or "a server that was not reached yet")
            if is_met
            else f"the engine says that it is compatible with {instance.compatibility}",
            needed=TAKES_ENGINE if is_met else f"compatible with {COMPATIBILITY}",
            remedy="" if is_met else "Install the engine of this release.",
            facts={"server": server_name(instance) or "unknown", "compatibility": COMPATIBILITY},
        )
    ]


def _minor_version(instance: EngineFacts) -> InstanceFinding:
    version = instance.minor_version
    is_met = version is not None and version >= LEAST_MINOR_VERSION
    needed = f"the engine, of {_day(LEAST_MINOR_VERSION)} or later"
    obstacle = "" if is_met else engine_obstacle(instance)
    if obstacle:
        seen = f"no engine is installed, and {obstacle}"
        remedy = " ".join(
            [USE_NEAR_CACHE, WORKS_WITHOUT_ENGINE, *([ALLOW_UNTESTED] if can_load_untested(instance) else [])]
        )
        facts = {"server": instance.edition or server_name(instance)}
        return InstanceFinding(Severity.BLOCKING, "no_engine_there", "", seen, TAKES_ENGINE, remedy, facts=facts)
    is_local = instance.provider == "local"
    remedy = "Upgrade the engine." if is_local else "Install the engine on the server, then check again."
    install = Action(route="upgrade") if is_local else Action(statements=install_statements(instance))
    return InstanceFinding(
        Severity.NOTICE if is_met else Severity.BLOCKING,
        "minor_version",
        "",
        seen=engine_name(instance) or "no engine is installed",
        needed=needed,
        remedy="" if is_met else remedy,
        facts={"engine": engine_name(instance) or "none", "least": _day(LEAST_MINOR_VERSION)},
        action=None if is_met else install,
    )


def server_name(instance: EngineFacts) -> str:
    """Returns a name such as MariaDB 10.11.19; empty until the server was reached."""
    return f"{instance.product} {instance.engine_version.partition('-')[0]}".strip()


def engine_name(instance: EngineFacts) -> str:
    """Returns the engine's name and date, such as FQC 1.0.0 (2026-11-20): its minor version is a date, as in the
    managed service.

    Empty without the engine.
    """
    if instance.minor_version is None:
        return ""
    return " ".join(filter(None, ["FQC", instance.fqc_version, f"({_day(instance.minor_version)})"]))


def _day(minor_version: int) -> str:
    text = str(minor_version)
    return f"{text[:-4]}-{text[-4:-2]}-{text[-2:]}"


def _idle(instance: EngineFacts) -> InstanceFinding:
    return InstanceFinding(
        Severity.BLOCKING,
        "engine_idle",
        "",
        seen=f"the engine is installed, but does not serve here: {instance.engine_obstacle}",
        needed="an engine that serves",
        remedy=f"Remove the obstacle, if possible. {WORKS_WITHOUT_ENGINE}",
        facts={"obstacle": instance.engine_obstacle},
    )


def engine_obstacle(instance: EngineFacts) -> str:
    """Returns why the engine cannot be loaded into this instance's server, as a clause; empty if it can."""
    if is_managed(instance.edition):
        return f"{instance.edition} does not load customer plugins"
    name = server_name(instance) or local_product(instance.product).name
    return "" if instance.takes_engine else f"this engine cannot be loaded into {name}"


def can_load_untested(instance: EngineFacts) -> bool:
    """Returns whether the engine would load into this server if it is started with fqc_allow_untested_server, although
    it was not tested with that server.
    """
    known = admission(local_product(instance.product), instance.engine_version)
    return known is Admission.ON_REQUEST and not is_managed(instance.edition)


def install_statements(instance: EngineFacts) -> tuple[str, ...]:
    return (
        "-- copy fqc.so into the folder that this names:",
        "SELECT @@plugin_dir;",
        *(f"{statement};" for statement in local_product(instance.product).install_engine),
        "SELECT @@fqc_minor_version;",
    )


def _proxy() -> InstanceFinding:
    return InstanceFinding(
        Severity.BLOCKING,
        "dedicated_proxy",
        "",
        seen="the dedicated proxy is enabled",
        needed="the dedicated proxy disabled",
        remedy="Disable the dedicated proxy.",
        action=Action(route="proxy", body={"enabled": False}),
    )
