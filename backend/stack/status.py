"""Finds out what runs, at which address, and where its log is."""

from dataclasses import dataclass

from stack import fleet, near, near_build, record
from stack.environment import web_address
from stack.layout import RunDir
from stack.process import is_alive

SERVICES = ("web", "worker", "scheduler")


@dataclass(frozen=True)
class ServiceState:
    name: str
    is_running: bool
    pid: int | None
    log: str


@dataclass(frozen=True)
class NearBuild:
    words: str
    log: str


@dataclass(frozen=True)
class State:
    # The console's address; None if the stack was never started.
    address: str | None
    services: list[ServiceState]
    instances: list[fleet.Instance]
    # The state of the build of `fqc-near`; None unless it is being built or has failed.
    near_build: NearBuild | None

    @property
    def is_running(self) -> bool:
        return all(service.is_running for service in self.services) and all(one.is_running for one in self.instances)


def status(run_dir: RunDir) -> State:
    kept = record.load(run_dir.record)
    instances = fleet.listed(run_dir, kept)
    building = _near_build(kept, run_dir)
    is_near_expected = near.placed(run_dir, instances) and (near.NAME in kept.running() or building is None)
    names = [*SERVICES, near.NAME] if is_near_expected else SERVICES
    services = [_service(name, kept, run_dir) for name in names]
    return State(web_address(kept.ports) if kept.ports else None, services, instances, building)


def _near_build(kept: record.Record, run_dir: RunDir) -> NearBuild | None:
    log = str(run_dir.log(near_build.NAME))
    if near_build.NAME in kept.running():
        return NearBuild(f"being built, pid {kept.processes[near_build.NAME].pid}", log)
    return NearBuild("not built: it failed", log) if near_build.has_failed(run_dir) else None


def _service(name: str, kept: record.Record, run_dir: RunDir) -> ServiceState:
    identity = kept.processes.get(name)
    is_running = identity is not None and is_alive(identity)
    return ServiceState(name, is_running, identity.pid if identity and is_running else None, str(run_dir.log(name)))
