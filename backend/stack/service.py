"""The long-running processes of a stack: how each is started, and how its readiness is checked."""

import subprocess
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from stack.environment import web_address
from stack.layout import BACKEND, PYTHON, RunDir
from stack.ports import LOOPBACK, Ports
from stack.problem import Problem
from stack.process import Identity, identify
from stack.waiting import wait_until

_READY_SECONDS = 180.0
_WORKER = "worker@localhost"
_LOG_TAIL_LINES = 15


@dataclass(frozen=True)
class Service:
    name: str
    command: list[str]
    is_ready: Callable[[], bool]


def declare(run_dir: RunDir, ports: Ports, environment: Mapping[str, str]) -> list[Service]:
    python = str(PYTHON)
    celery = [python, "-m", "celery", "--app", "config.celery"]
    # There is only one worker, so messages between workers are not needed. The broker would keep those for a killed
    # worker for ever.
    alone = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    return [
        Service(
            "web",
            [python, "-m", "config.web", "--host", LOOPBACK, "--port", str(ports.web)],
            lambda: _answers(web_address(ports) + "/readyz"),
        ),
        Service(
            "worker",
            [*celery, "worker", "--hostname", _WORKER, "--concurrency", "2", *alone],
            lambda: _succeeds([*celery, "inspect", "ping", "--destination", _WORKER, "--timeout", "5"], environment),
        ),
        Service(
            "scheduler",
            [*celery, "beat", "--pidfile", ""],
            # Its banner, which is logged at every level; each start begins a new log.
            lambda: " is starting." in run_dir.log("scheduler").read_text(errors="replace"),
        ),
    ]


def start(service: Service, run_dir: RunDir, environment: Mapping[str, str]) -> Identity:
    """Starts the service and returns its process at once, which may not be ready. Raises Problem if it has ended
    already.

    It has a session of its own, so that it outlives this command and gets no Ctrl-C from the terminal.
    """
    with run_dir.log(service.name).open("wb") as log:
        child = subprocess.Popen(
            service.command,
            cwd=BACKEND,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    identity = identify(child.pid)
    if identity is None:
        raise failure(service.name, run_dir, "ended at once")
    return identity


def await_ready(service: Service, run_dir: RunDir, identity: Identity) -> None:
    def settled() -> bool:
        return service.is_ready() or identify(identity.pid) != identity

    in_time = wait_until(settled, _READY_SECONDS)
    if identify(identity.pid) != identity:
        raise failure(service.name, run_dir, "ended while it was starting")
    if not in_time:
        raise failure(service.name, run_dir, f"was not ready within {_READY_SECONDS:.0f} s")


def failure(name: str, run_dir: RunDir, what: str) -> Problem:
    log = run_dir.log(name)
    return Problem(f"{name} {what}; the end of its log {log}:\n{tail(log.read_text(errors='replace'))}")


def tail(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines()[-_LOG_TAIL_LINES:])


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def _succeeds(command: list[str], environment: Mapping[str, str]) -> bool:
    quiet = subprocess.DEVNULL
    done = subprocess.run(command, cwd=BACKEND, env=environment, stdin=quiet, stdout=quiet, stderr=quiet, check=False)
    return done.returncode == 0
