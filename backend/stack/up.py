"""`up`: prepare the database, start fleet and services, wait until each is ready. A second `up` changes nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stack import fleet, near, near_build, ports, record
from stack.down import stop_everything, stop_services
from stack.environment import for_children, web_address
from stack.layout import CONSOLE_PAGE, ENGINE_LIBRARY, PYTHON, REPOSITORY, RunDir, revision
from stack.ports import Ports
from stack.problem import Problem
from stack.process import is_alive
from stack.service import Service, await_ready, declare, start
from stack.step import Steps, run

_BUILT_BY = {PYTHON: "make backend", ENGINE_LIBRARY: "make engine", CONSOLE_PAGE: "make frontend"}


@dataclass(frozen=True)
class Running:
    address: str
    admin: fleet.Administrator
    instances: list[fleet.Instance]
    # The near cache. None if `fqc-near` was not built yet or no server allows one.
    near_cache: near.NearCache | None
    is_near_being_built: bool


@dataclass(frozen=True)
class UpOptions:
    # Whether free ports are chosen, instead of those of the environment.
    is_auto: bool
    # The number of servers, and the product of new ones.
    fleet_size: int
    product: str
    # The command that builds `fqc-near` in the background; empty if it is built already or not wanted.
    near_build: Sequence[str]
    # The number of steps that `make` has done before.
    steps_before: int


def up(run_dir: RunDir, wish: UpOptions) -> Running:
    _require_built()
    run_dir.prepare()
    with record.locked(run_dir.lock):
        kept = record.load(run_dir.record)
        kept.ports = _choose_ports(kept, wish.is_auto, wish.fleet_size)
        kept.fleet_size = wish.fleet_size
        environment = for_children(run_dir, kept.ports, kept.stack_id)
        record.save(run_dir.record, kept)
        try:
            return _bring_up(run_dir, kept, kept.ports, wish, environment)
        except BaseException:
            stop_everything(run_dir, kept)
            raise


def _bring_up(
    run_dir: RunDir, kept: record.Record, chosen: Ports, wish: UpOptions, environment: Mapping[str, str]
) -> Running:
    services = declare(run_dir, chosen, environment)
    now = revision()
    is_current = kept.revision == now and all(each.name in kept.running() for each in services)
    steps = Steps(wish.steps_before, 3)
    with steps.next("the database"):
        if not is_current:
            stop_services(run_dir, kept, spared={near.NAME, near_build.NAME})
            ports.require_free(ports.WEB_SETTING, chosen.web)
            run("migrate", ["migrate", "--noinput"], run_dir, environment)
        admin = fleet.ensure_admin(run_dir, environment)
    with steps.next(f"{kept.fleet_size} {wish.product} servers"):
        instances = fleet.start(kept.fleet_size, wish.product, run_dir, environment)
    with steps.next(", ".join(service.name for service in services)):
        if not is_current:
            _start(services, run_dir, kept, environment)
            kept.revision = now
            record.save(run_dir.record, kept)
        near_cache = near.ensure(run_dir, kept, instances, environment)
    before = near.wanted(instances)
    if wish.near_build and before:
        near_build.begin(run_dir, kept, before.name, wish.near_build, environment)
    is_being_built = near_build.NAME in kept.running()
    return Running(web_address(chosen), admin, instances, near_cache, is_being_built)


def _start(services: Sequence[Service], run_dir: RunDir, kept: record.Record, environment: Mapping[str, str]) -> None:
    for service in services:
        kept.processes[service.name] = start(service, run_dir, environment)
        record.save(run_dir.record, kept)
    for service in services:
        await_ready(service, run_dir, kept.processes[service.name])


def _choose_ports(kept: record.Record, is_auto: bool, fleet_size: int) -> Ports:
    """Returns the ports.

    A running web process keeps its port. If it is stopped, automatic ports are kept and fixed ones follow the
    environment.
    """
    web = kept.processes.get("web")
    if kept.ports and (is_auto or (web and is_alive(web))):
        return kept.ports
    return ports.automatic(fleet_size) if is_auto else ports.fixed()


def _require_built() -> None:
    for path, target in _BUILT_BY.items():
        if not path.exists():
            raise Problem(f"{path.relative_to(REPOSITORY)} is not there; build it with: {target}")
