"""Makes the local fleet and the first administrator with the control plane's own commands."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from stack import step
from stack.environment import for_children
from stack.layout import PYTHON, RunDir
from stack.problem import Problem
from stack.record import Record


@dataclass(frozen=True)
class Instance:
    id: str
    name: str
    host: str
    port: int
    # The control plane's account on the server.
    username: str
    # The password of the control plane's account. It is never in a message, only in the output of `up --json` for
    # tests.
    password: str = field(repr=False)
    # The account with all privileges, which may only log in through the server's socket.
    owner: str
    owner_password: str = field(repr=False)
    public_key: str = field(repr=False)
    product: str
    state: str
    # The process id. None if the server does not run.
    pid: int | None
    has_engine: bool
    # The reason why the loaded engine serves nothing, whatever its settings; empty if there is none.
    engine_obstacle: str
    folder: str

    @property
    def is_running(self) -> bool:
        return self.pid is not None

    @property
    def is_serving(self) -> bool:
        """Returns whether its engine serves once the cache is on."""
        return self.has_engine and not self.engine_obstacle

    @property
    def engine(self) -> str:
        if self.engine_obstacle:
            return f"engine loaded, but it serves nothing: {self.engine_obstacle}"
        return "engine loaded" if self.has_engine else "without the engine"


@dataclass(frozen=True)
class Administrator:
    username: str
    password: str = field(repr=False)
    password_file: str


def ensure_admin(run_dir: RunDir, environment: Mapping[str, str]) -> Administrator:
    return Administrator(**json.loads(step.ask("ensure-admin", ["ensure_admin", "--json"], run_dir, environment)))


def start(count: int, product: str, run_dir: RunDir, environment: Mapping[str, str]) -> list[Instance]:
    command = _command("start", "--count", str(count), "--product", product)
    return _instances(step.ask("fleet-start", command, run_dir, environment))


def listed(run_dir: RunDir, kept: Record) -> list[Instance]:
    """Returns the servers of the fleet, running or not; none before the first `up`, since there is no database yet."""
    if kept.ports is None or not kept.revision:
        return []
    return _instances(step.ask("fleet-status", _command("status"), run_dir, _environment(run_dir, kept)))


def stop(run_dir: RunDir, kept: Record) -> None:
    if kept.ports is not None and PYTHON.exists() and (run_dir.root / "local").exists():
        step.ask("fleet-stop", _command("stop"), run_dir, _environment(run_dir, kept))


def _command(action: str, *more: str) -> list[str]:
    return ["local_fleet", action, "--json", *more]


def _environment(run_dir: RunDir, kept: Record) -> Mapping[str, str]:
    if kept.ports is None:
        raise Problem(f"nothing was ever started in {run_dir.root}; start it with: make up")
    return for_children(run_dir, kept.ports, kept.stack_id)


def _instances(printed: str) -> list[Instance]:
    return [Instance(**row) for row in json.loads(printed)]
