"""`up`: prepare the database, start fleet and services, wait until each is ready. A second `up` changes nothing."""

from collections.abc import Mapping
from dataclasses import dataclass

from stack import fleet, near, ports, record, step
from stack.down import stop_everything, stop_services
from stack.environment import for_children, web_address
from stack.layout import CONSOLE_PAGE, ENGINE_LIBRARY, PYTHON, REPOSITORY, RunDir, revision
from stack.ports import Ports
from stack.problem import Problem
from stack.process import is_alive
from stack.service import await_ready, declare, start

_BUILT_BY = {PYTHON: "make backend", ENGINE_LIBRARY: "make engine", CONSOLE_PAGE: "make frontend"}


@dataclass(frozen=True)
class Running:
    address: str
    admin: fleet.Administrator
    instances: list[fleet.Instance]
    near_cache: near.NearCache | None


def up(run_dir: RunDir, *, is_auto: bool, fleet_size: int, product: str) -> Running:
    _require_built()
    run_dir.prepare()
    with record.locked(run_dir.lock):
        kept = record.load(run_dir.record)
        kept.ports = _choose_ports(kept, is_auto, fleet_size)
        kept.fleet_size = fleet_size
        environment = for_children(run_dir, kept.ports, kept.stack_id)
        record.save(run_dir.record, kept)
        try:
            return _bring_up(run_dir, kept, kept.ports, product, environment)
        except BaseException:
            stop_everything(run_dir, kept)
            raise


def _bring_up(
    run_dir: RunDir, kept: record.Record, chosen: Ports, product: str, environment: Mapping[str, str]
) -> Running:
    services = declare(run_dir, chosen, environment)
    now = revision()
    is_current = kept.revision == now and all(each.name in kept.running() for each in services)
    if not is_current:
        stop_services(run_dir, kept)
        ports.require_free(ports.WEB_SETTING, chosen.web)
        step.progress("preparing the database")
        step.run("migrate", ["migrate", "--noinput"], run_dir, environment)
    admin = fleet.ensure_admin(run_dir, environment)
    step.progress(f"seeing to {kept.fleet_size} {product} servers")
    instances = fleet.start(kept.fleet_size, product, run_dir, environment)
    if not is_current:
        step.progress("starting " + ", ".join(service.name for service in services))
        for service in services:
            kept.processes[service.name] = start(service, run_dir, environment)
            record.save(run_dir.record, kept)
        for service in services:
            await_ready(service, run_dir, kept.processes[service.name])
        kept.revision = now
        record.save(run_dir.record, kept)
    near_cache = near.ensure(run_dir, kept, instances, environment)
    return Running(web_address(chosen), admin, instances, near_cache)


def _choose_ports(kept: record.Record, is_auto: bool, fleet_size: int) -> Ports:
    """A running web keeps its port; what is stopped follows the environment, or stays where it was."""
    web = kept.processes.get("web")
    if kept.ports and (is_auto or (web and is_alive(web))):
        return kept.ports
    return ports.automatic(fleet_size) if is_auto else ports.fixed()


def _require_built() -> None:
    for path, target in _BUILT_BY.items():
        if not path.exists():
            raise Problem(f"{path.relative_to(REPOSITORY)} is not there; build it with: {target}")
